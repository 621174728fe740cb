import { advanceAnchor, getPeriodEnd } from '../billing-anchor.ts';
import { dayMs } from '../calendar.ts';
import { requirePossible, requireSubscription } from '../purchase-checks.ts';
import type { ActionBody } from '../purchase-order.ts';
import { getGraceDays, getPeriod } from './catalogue.ts';
import { declineItem, hasDeclinedItems, suspendPaidItems } from './declined-items.ts';
import { buildRenewalOrder } from './orders.ts';
import { buildSubscriptionNotification, type Transition, type TransitionContext } from './purchase-transition.ts';
import type { Purchase } from './records.ts';
import { getNextPrice, omitEndState } from './renewal.ts';
import { listNextLines } from './subscription-items.ts';

const holdDays = 30;

/** Time for which Google retries a declined payment before it reports it. */
const silentGraceMs = dayMs;

/**
 * Fails the payment for the next period. Starts the grace period, or account hold without a remaining grace period. A
 * silent failure starts it a day after the period: until then, the subscription is active.
 *
 * @see https://developer.android.com/google/play/billing/lifecycle/subscriptions
 */
export function failPayment(
  purchase: Purchase,
  { at, product }: TransitionContext,
  { grace = true, silent, productId }: Pick<ActionBody, 'grace' | 'silent' | 'productId'> = {},
): Transition {
  const { state, anchor, awaitsRenewal, isPrepaid } = requireSubscription(purchase);
  if (state === 'IN_GRACE_PERIOD') return startAccountHold(purchase, at);
  if (productId !== undefined) {
    const declined = declineItem(purchase, { at, period: getPeriod(product), productId });
    return grace ? enterGracePeriod(declined) : startAccountHold(declined, at);
  }
  const isDue = !isPrepaid && (state === 'ACTIVE' || awaitsRenewal === true);
  requirePossible(isDue, purchase, `is ${state}: no payment is due`);
  if (silent) {
    const retriesUntil = getPeriodEnd(anchor) + silentGraceMs;
    requirePossible(retriesUntil > at, purchase, 'ended more than a day ago');
    const subscription = { ...omitEndState(purchase), state: 'ACTIVE', retriesUntil } as const;
    return { purchase: { ...purchase, subscription }, notifications: [] };
  }
  const next = advanceAnchor(anchor, getPeriod(product));
  const service = { start: getPeriodEnd(anchor), end: getPeriodEnd(next) };
  const priceMicros = getNextPrice(purchase);
  const lines = listNextLines(purchase, priceMicros);
  const unpaid = buildRenewalOrder(purchase, {
    at,
    state: 'PENDING',
    priceMicros,
    service,
    ...(lines && { lines }),
  });
  const failed = { ...purchase, orders: [...purchase.orders, unpaid] };
  const graceEnd = getPeriodEnd(anchor) + getGraceDays(getPeriod(product)) * dayMs;
  if (!grace || graceEnd <= at) return startAccountHold(failed, at);
  const inGrace = { ...omitEndState(purchase), state: 'IN_GRACE_PERIOD', expiryTime: graceEnd } as const;
  return enterGracePeriod({ ...failed, subscription: inGrace });
}

const enterGracePeriod = (purchase: Purchase): Transition => ({
  purchase,
  notifications: [buildSubscriptionNotification(purchase, 'IN_GRACE_PERIOD')],
});

/** Starts account hold: access ends while Google retries the payment for 30 days. */
export function startAccountHold(purchase: Purchase, at: number): Transition {
  const subscription = omitEndState(purchase);
  const expiryTime = Math.min(subscription.expiryTime, at);
  const held = hasDeclinedItems(purchase) ? suspendPaidItems(subscription, at) : subscription;
  const onHold = { ...held, state: 'ON_HOLD', expiryTime, holdEnds: at + holdDays * dayMs } as const;
  return {
    purchase: { ...purchase, subscription: onHold },
    notifications: [buildSubscriptionNotification(purchase, 'ON_HOLD')],
  };
}
