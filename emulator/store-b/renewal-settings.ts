import { addPeriod, dayMs, type Period } from '../calendar.ts';
import { getPeriod } from './catalogue.ts';
import { cancelUnpaidOrder, endSubscription } from './end-subscription.ts';
import { advanceAnchor, getPeriodEnd } from './orders.ts';
import {
  buildSubscriptionNotification,
  requirePossible,
  requireSubscription,
  type Transition,
  type TransitionContext,
  withSubscription,
  withSubscriptionChange,
} from './purchase-transition.ts';
import type { Purchase, Subscription } from './records.ts';

/** A week in which nobody is told, and the customers' notice of thirty days. */
const noticeDays = 37;

/** The customer switches the renewal off; without access that ends the subscription at once. */
export function cancelRenewal(purchase: Purchase, at: number): Transition {
  const { state } = requireSubscription(purchase);
  requirePossible(state !== 'CANCELED' && state !== 'EXPIRED', purchase, `is ${state} already`);
  if (state === 'ON_HOLD' || state === 'PAUSED') {
    return {
      purchase: endSubscription(purchase, at, 'user'),
      notifications: [
        buildSubscriptionNotification(purchase, 'CANCELED'),
        buildSubscriptionNotification(purchase, 'EXPIRED'),
      ],
    };
  }
  const cancelled = { state: 'CANCELED', autoRenew: false, cancelled: { by: 'user', at } } as const;
  return withSubscriptionChange(cancelUnpaidOrder(purchase, at), cancelled, 'CANCELED');
}

/** The customer switches the renewal on again, before the end. */
export function resumeRenewal(purchase: Purchase): Transition {
  const { cancelled: _taken, ...subscription } = requireSubscription(purchase);
  const { state, expiryTime, anchor } = subscription;
  requirePossible(state === 'CANCELED', purchase, `is ${state}: there is no cancellation to take back`);
  requirePossible(expiryTime === getPeriodEnd(anchor), purchase, 'was cancelled while its payment failed');
  return withSubscriptionChange({ ...purchase, subscription }, { state: 'ACTIVE', autoRenew: true }, 'RESTARTED');
}

/** The customer pauses it, for a month unless they say how long; the period that is paid for ends at once. */
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

/** The developer asks for a higher price, a fifth more unless said; it needs consent. */
export function increasePrice(
  purchase: Purchase,
  { at, product }: TransitionContext,
  priceMicros?: number,
): Transition {
  const { state, priceMicros: current } = requireSubscription(purchase);
  requirePossible(state === 'ACTIVE', purchase, `is ${state}: no price is to come`);
  const raised = priceMicros ?? Math.round((current * 1.2) / 10_000) * 10_000;
  requirePossible(raised > current, purchase, `already renews for ${current} micros`);
  const chargeAt = findRenewalFrom(requireSubscription(purchase), getPeriod(product), at + noticeDays * dayMs);
  const priceChange = { state: 'OUTSTANDING', priceMicros: raised, chargeAt } as const;
  return withSubscriptionChange(purchase, { priceChange }, 'PRICE_CHANGE_UPDATED');
}

/** The customer consents to the higher price, which the next renewal costs. */
export function acceptPriceIncrease(purchase: Purchase): Transition {
  const { state, priceChange, anchor } = requireSubscription(purchase);
  requirePossible(
    priceChange?.state === 'OUTSTANDING' && state !== 'EXPIRED',
    purchase,
    'awaits no consent to a price',
  );
  const confirmed = { ...priceChange, state: 'CONFIRMED', chargeAt: getPeriodEnd(anchor) } as const;
  return {
    purchase: withSubscription(purchase, { priceChange: confirmed }),
    notifications: [buildSubscriptionNotification(purchase, 'PRICE_CHANGE_UPDATED')],
  };
}

/** The first renewal that is not before that moment. */
function findRenewalFrom(subscription: Subscription, period: Period, at: number): number {
  let { anchor } = subscription;
  while (getPeriodEnd(anchor) < at) anchor = advanceAnchor({ ...subscription, anchor }, period);
  return getPeriodEnd(anchor);
}
