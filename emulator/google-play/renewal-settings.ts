import { advanceAnchor, type BillingAnchor, getPeriodEnd } from '../billing-anchor.ts';
import { addPeriod, dayMs, type Period } from '../calendar.ts';
import { computeRaisedPrice } from '../product.ts';
import { requirePossible, requireSubscription } from '../purchase-checks.ts';
import { getPeriod } from './catalogue.ts';
import { dropDeclinedItems, hasDeclinedItems } from './declined-items.ts';
import { cancelUnpaidOrder, endSubscription } from './end-subscription.ts';
import { hasCommittedPayments } from './installments.ts';
import {
  buildSubscriptionNotification,
  type Transition,
  type TransitionContext,
  withSubscription,
  withSubscriptionChange,
} from './purchase-transition.ts';
import type { Purchase } from './records.ts';

/**
 * Freeze of 7 days before Google informs customers, and 30 days until the new price can apply.
 *
 * @see https://developer.android.com/google/play/billing/price-changes
 */
const noticeDays = 37;

/**
 * Turns automatic renewal off. A subscription without access ends immediately. A customer who has committed to further
 * payments makes them first; the developer can stop them.
 *
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2/cancel
 */
export function cancelRenewal(purchase: Purchase, at: number, by: 'user' | 'developer' = 'user'): Transition {
  const { state } = requireSubscription(purchase);
  requirePossible(state !== 'CANCELED' && state !== 'EXPIRED', purchase, `is already ${state}`);
  if (state === 'ON_HOLD' && hasDeclinedItems(purchase)) return dropDeclinedItems(purchase, at, 'user');
  if (state === 'ON_HOLD' || state === 'PAUSED') {
    return {
      purchase: endSubscription(purchase, at, by),
      notifications: [
        buildSubscriptionNotification(purchase, 'CANCELED'),
        buildSubscriptionNotification(purchase, 'EXPIRED'),
      ],
    };
  }
  if (by === 'user' && hasCommittedPayments(requireSubscription(purchase))) {
    const { pendingCancellation } = requireSubscription(purchase);
    requirePossible(pendingCancellation === undefined, purchase, 'is already canceled');
    return withSubscriptionChange(purchase, { pendingCancellation: at }, 'CANCELLATION_SCHEDULED');
  }
  const patch = { state: 'CANCELED', autoRenew: false, cancellation: { by, at } } as const;
  return withSubscriptionChange(cancelUnpaidOrder(purchase, at), patch, 'CANCELED');
}

/** Turns automatic renewal on again before the end of the period. */
export function resumeRenewal(purchase: Purchase): Transition {
  const { cancellation, pendingCancellation, ...subscription } = requireSubscription(purchase);
  const { state, expiryTime, anchor } = subscription;
  if (state === 'ACTIVE' && pendingCancellation !== undefined)
    return withSubscriptionChange({ ...purchase, subscription }, {}, 'RESTARTED');
  requirePossible(cancellation?.by !== 'developer', purchase, 'was canceled by the developer');
  requirePossible(state === 'CANCELED', purchase, `is ${state}: only a canceled subscription can be restarted`);
  requirePossible(expiryTime === getPeriodEnd(anchor), purchase, 'was canceled during a failed payment');
  return withSubscriptionChange({ ...purchase, subscription }, { state: 'ACTIVE', autoRenew: true }, 'RESTARTED');
}

/** Pauses the subscription, by default for one month. The paid period ends immediately. */
export function pauseSubscription(purchase: Purchase, at: number, period: Period = 'P1M'): Transition {
  const { state } = requireSubscription(purchase);
  requirePossible(state === 'ACTIVE', purchase, `is ${state}: only an active subscription can be paused`);
  const paused = { state: 'PAUSED', expiryTime: at, resumesAt: addPeriod(at, period) } as const;
  return {
    purchase: withSubscription(purchase, paused),
    notifications: [
      buildSubscriptionNotification(purchase, 'PAUSE_SCHEDULE_CHANGED'),
      buildSubscriptionNotification(purchase, 'PAUSED'),
    ],
  };
}

/** Announces a price increase, which requires consent. Default: 20 % more. */
export function increasePrice(
  purchase: Purchase,
  { at, product }: TransitionContext,
  priceMicros?: number,
): Transition {
  const { state, priceMicros: current, anchor } = requireSubscription(purchase);
  requirePossible(state === 'ACTIVE', purchase, `is ${state}: no renewal is scheduled`);
  const raised = priceMicros ?? computeRaisedPrice(current);
  requirePossible(raised > current, purchase, `already renews for ${current} micros`);
  const chargeAt = findRenewalFrom(anchor, getPeriod(product), at + noticeDays * dayMs);
  const priceChange = { state: 'OUTSTANDING', priceMicros: raised, chargeAt } as const;
  return withSubscriptionChange(purchase, { priceChange }, 'PRICE_CHANGE_UPDATED');
}

/** Accepts the price increase, which applies to the next renewal. */
export function acceptPriceIncrease(purchase: Purchase): Transition {
  const { state, priceChange, anchor } = requireSubscription(purchase);
  requirePossible(
    priceChange?.state === 'OUTSTANDING' && state !== 'EXPIRED',
    purchase,
    'does not have a pending price increase',
  );
  const confirmed = { ...priceChange, state: 'CONFIRMED', chargeAt: getPeriodEnd(anchor) } as const;
  return {
    purchase: withSubscription(purchase, { priceChange: confirmed }),
    notifications: [buildSubscriptionNotification(purchase, 'PRICE_CHANGE_UPDATED')],
  };
}

/** Finds the first renewal at or after the time. */
function findRenewalFrom(current: BillingAnchor, period: Period, at: number): number {
  let anchor = current;
  while (getPeriodEnd(anchor) < at) anchor = advanceAnchor(anchor, period);
  return getPeriodEnd(anchor);
}
