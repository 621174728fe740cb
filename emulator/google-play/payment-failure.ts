import { advanceAnchor, getPeriodEnd } from '../billing-anchor.ts';
import { addPeriod, dayMs, type Period } from '../calendar.ts';
import { requirePossible, requireSubscription } from '../purchase-checks.ts';
import { getPeriod } from './catalogue.ts';
import { buildRenewalOrder } from './orders.ts';
import { buildSubscriptionNotification, type Transition, type TransitionContext } from './purchase-transition.ts';
import type { Purchase } from './records.ts';
import { getNextPrice, omitEndState } from './renewal.ts';

const holdDays = 30;

/**
 * Fails the payment for the next period. Starts the grace period, or account hold without a remaining grace period.
 *
 * @see https://developer.android.com/google/play/billing/lifecycle/subscriptions
 */
export function failPayment(purchase: Purchase, { at, product }: TransitionContext, grace = true): Transition {
  const { state, anchor, awaitsRenewal } = requireSubscription(purchase);
  if (state === 'IN_GRACE_PERIOD') return startAccountHold(purchase, at);
  requirePossible(state === 'ACTIVE' || awaitsRenewal === true, purchase, `is ${state}: no payment is due`);
  const next = advanceAnchor(anchor, getPeriod(product));
  const service = { start: getPeriodEnd(anchor), end: getPeriodEnd(next) };
  const unpaid = buildRenewalOrder(purchase, { at, state: 'PENDING', priceMicros: getNextPrice(purchase), service });
  const failed = { ...purchase, orders: [...purchase.orders, unpaid] };
  const graceEnd = getPeriodEnd(anchor) + getGraceDays(getPeriod(product)) * dayMs;
  if (!grace || graceEnd <= at) return startAccountHold(failed, at);
  const inGrace = { ...omitEndState(purchase), state: 'IN_GRACE_PERIOD', expiryTime: graceEnd } as const;
  return {
    purchase: { ...failed, subscription: inGrace },
    notifications: [buildSubscriptionNotification(purchase, 'IN_GRACE_PERIOD')],
  };
}

/** Starts account hold: access ends while Google retries the payment for 30 days. */
export function startAccountHold(purchase: Purchase, at: number): Transition {
  const expiryTime = Math.min(requireSubscription(purchase).expiryTime, at);
  const onHold = { ...omitEndState(purchase), state: 'ON_HOLD', expiryTime, holdEnds: at + holdDays * dayMs } as const;
  return {
    purchase: { ...purchase, subscription: onHold },
    notifications: [buildSubscriptionNotification(purchase, 'ON_HOLD')],
  };
}

/** Returns the length of the grace period in days. */
const getGraceDays = (period: Period): number => (addPeriod(0, period) >= 28 * dayMs ? 7 : 3);
