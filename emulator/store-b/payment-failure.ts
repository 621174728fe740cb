import { addPeriod, dayMs, type Period } from '../calendar.ts';
import { getPeriod } from './catalogue.ts';
import { advanceAnchor, buildRenewalOrder, getPeriodEnd } from './orders.ts';
import {
  buildSubscriptionNotification,
  requirePossible,
  requireSubscription,
  type Transition,
  type TransitionContext,
} from './purchase-transition.ts';
import type { Purchase } from './records.ts';
import { clearEndState, getNextPrice } from './renewal.ts';

const holdDays = 30;

/** The payment for the next period fails: grace begins, or account hold when there is none or it is over. */
export function failPayment(purchase: Purchase, { at, product }: TransitionContext, grace = true): Transition {
  const { state, anchor, awaitsRenewal } = requireSubscription(purchase);
  if (state === 'IN_GRACE_PERIOD') return startAccountHold(purchase, at);
  requirePossible(state === 'ACTIVE' || awaitsRenewal === true, purchase, `is ${state}: no payment is due`);
  const next = advanceAnchor(requireSubscription(purchase), getPeriod(product));
  const service = { start: getPeriodEnd(anchor), end: getPeriodEnd(next) };
  const unpaid = buildRenewalOrder(purchase, { at, state: 'PENDING', priceMicros: getNextPrice(purchase), service });
  const failed = { ...purchase, orders: [...purchase.orders, unpaid] };
  const graceEnd = getPeriodEnd(anchor) + getGraceDays(getPeriod(product)) * dayMs;
  if (!grace || graceEnd <= at) return startAccountHold(failed, at);
  const inGrace = { ...clearEndState(purchase), state: 'IN_GRACE_PERIOD', expiryTime: graceEnd } as const;
  return {
    purchase: { ...failed, subscription: inGrace },
    notifications: [buildSubscriptionNotification(purchase, 'IN_GRACE_PERIOD')],
  };
}

/** Access ends while the payment is tried on for some weeks. */
export function startAccountHold(purchase: Purchase, at: number): Transition {
  const expiryTime = Math.min(requireSubscription(purchase).expiryTime, at);
  const held = { ...clearEndState(purchase), state: 'ON_HOLD', expiryTime, holdEnds: at + holdDays * dayMs } as const;
  return {
    purchase: { ...purchase, subscription: held },
    notifications: [buildSubscriptionNotification(purchase, 'ON_HOLD')],
  };
}

/** How long customers keep access while their payment fails. */
const getGraceDays = (period: Period): number => (addPeriod(0, period) >= 28 * dayMs ? 7 : 3);
