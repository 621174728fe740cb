import { addPeriod, type Period } from '../calendar.ts';
import { periodOf } from './catalogue.ts';
import { type Change, demand, type Moment, subscriptionOf, told } from './change.ts';
import { endOf, nextAnchor, renewalOrder } from './placing.ts';
import type { Purchase } from './records.ts';
import { cleared, nextPrice } from './renewing.ts';

const dayMs = 86_400_000;
const holdDays = 30;

/** The payment for the next period fails: grace begins, or account hold when there is none or it is over. */
export function failPayment(purchase: Purchase, { at, product }: Moment, grace = true): Change {
  const { state, anchor, awaitsRenewal } = subscriptionOf(purchase);
  if (state === 'IN_GRACE_PERIOD') return hold(purchase, at);
  demand(state === 'ACTIVE' || awaitsRenewal === true, purchase, `is ${state}: no payment is due`);
  const next = nextAnchor(subscriptionOf(purchase), periodOf(product));
  const service = { start: endOf(anchor), end: endOf(next) };
  const unpaid = renewalOrder(purchase, { at, state: 'PENDING', priceMicros: nextPrice(purchase), service });
  const failed = { ...purchase, orders: [...purchase.orders, unpaid] };
  const graceEnd = endOf(anchor) + graceDays(periodOf(product)) * dayMs;
  if (!grace || graceEnd <= at) return hold(failed, at);
  const inGrace = { ...cleared(purchase), state: 'IN_GRACE_PERIOD', expiryTime: graceEnd } as const;
  return { purchase: { ...failed, subscription: inGrace }, notices: [told(purchase, 'IN_GRACE_PERIOD')] };
}

/** Access ends while the payment is tried on for some weeks. */
export function hold(purchase: Purchase, at: number): Change {
  const expiryTime = Math.min(subscriptionOf(purchase).expiryTime, at);
  const held = { ...cleared(purchase), state: 'ON_HOLD', expiryTime, holdEnds: at + holdDays * dayMs } as const;
  return { purchase: { ...purchase, subscription: held }, notices: [told(purchase, 'ON_HOLD')] };
}

/** How long customers keep access while their payment fails. */
const graceDays = (period: Period): number => (addPeriod(0, period) >= 28 * dayMs ? 7 : 3);
