import { expire } from './billing.ts';
import {
  buildNotificationType,
  requirePossible,
  requireSubscription,
  type Transition,
  type TransitionContext,
  withSubscription,
} from './purchase-transition.ts';
import type { Purchase } from './records.ts';

/** The customer switches the renewal off; while a payment is being retried that ends the subscription. */
export function cancelRenewal(purchase: Purchase, context: TransitionContext): Transition {
  const { state, willRenew } = requireSubscription(purchase);
  requirePossible(willRenew, purchase, `is ${state} and does not renew anyway`);
  const cancelled = withSubscription(purchase, { willRenew: false });
  const disabled = buildNotificationType('DID_CHANGE_RENEWAL_STATUS', 'AUTO_RENEW_DISABLED');
  if (state !== 'BILLING_RETRY') return { purchase: cancelled, notifications: [disabled] };
  const expired = expire(cancelled, context);
  return { purchase: expired.purchase, notifications: [disabled, ...expired.notifications] };
}

/** The customer switches the renewal on again, before the end. */
export function resumeRenewal(purchase: Purchase): Transition {
  const { state, willRenew } = requireSubscription(purchase);
  requirePossible(state === 'ACTIVE' || state === 'BILLING_GRACE_PERIOD', purchase, `is ${state}: renew buys it again`);
  requirePossible(!willRenew, purchase, 'was not cancelled');
  return {
    purchase: withSubscription(purchase, { willRenew: true }),
    notifications: [buildNotificationType('DID_CHANGE_RENEWAL_STATUS', 'AUTO_RENEW_ENABLED')],
  };
}

/** The developer asks for a higher price from the next period on, a fifth more unless said; it needs consent. */
export function increasePrice(purchase: Purchase, priceMicros?: number): Transition {
  const { state, willRenew, renewal } = requireSubscription(purchase);
  requirePossible(
    state === 'ACTIVE' && willRenew,
    purchase,
    `is ${state}${willRenew ? '' : ' and cancelled'}: no price is to come`,
  );
  const raised = priceMicros ?? Math.round((renewal.priceMicros * 1.2) / 10_000) * 10_000;
  requirePossible(raised > renewal.priceMicros, purchase, `already renews for ${renewal.priceMicros} micros`);
  return {
    purchase: withSubscription(purchase, { priceIncrease: { accepted: false, priceMicros: raised } }),
    notifications: [buildNotificationType('PRICE_INCREASE', 'PENDING')],
  };
}

/** The customer consents to the higher price. */
export function acceptPriceIncrease(purchase: Purchase): Transition {
  const { priceIncrease } = requireSubscription(purchase);
  requirePossible(priceIncrease?.accepted === false, purchase, 'awaits no consent to a price');
  return {
    purchase: withSubscription(purchase, { priceIncrease: { ...priceIncrease, accepted: true } }),
    notifications: [buildNotificationType('PRICE_INCREASE', 'ACCEPTED')],
  };
}
