import { computeRaisedPrice } from '../product.ts';
import { requirePossible, requireSubscription } from '../purchase-checks.ts';
import { expire } from './billing.ts';
import { isLastPeriod } from './commitment.ts';
import {
  buildNotificationType,
  type Transition,
  type TransitionContext,
  withSubscription,
} from './purchase-transition.ts';
import type { Purchase } from './records.ts';

/** Turns automatic renewal off. During billing retry this ends the subscription. */
export function cancelRenewal(purchase: Purchase, context: TransitionContext): Transition {
  const { state, willRenew, commitment } = requireSubscription(purchase);
  requirePossible(willRenew && commitment?.renews !== false, purchase, `is ${state} and does not renew`);
  const disabled = buildNotificationType('DID_CHANGE_RENEWAL_STATUS', 'AUTO_RENEW_DISABLED');
  const lapsing = commitment && { commitment: { ...commitment, renews: false } };
  // The billing periods of a commitment continue until the last one.
  if (commitment && !isLastPeriod(commitment))
    return { purchase: withSubscription(purchase, { ...lapsing }), notifications: [disabled] };
  const canceled = withSubscription(purchase, { willRenew: false, ...lapsing });
  if (state !== 'BILLING_RETRY') return { purchase: canceled, notifications: [disabled] };
  const expired = expire(canceled, context);
  return { purchase: expired.purchase, notifications: [disabled, ...expired.notifications] };
}

/** Turns automatic renewal on again before the end of the period. */
export function resumeRenewal(purchase: Purchase): Transition {
  const { state, willRenew, commitment } = requireSubscription(purchase);
  requirePossible(
    state === 'ACTIVE' || state === 'BILLING_GRACE_PERIOD',
    purchase,
    `is ${state}: use renew to resubscribe`,
  );
  requirePossible(!willRenew || commitment?.renews === false, purchase, 'is not canceled');
  const renewing = commitment && { commitment: { ...commitment, renews: true } };
  return {
    purchase: withSubscription(purchase, { willRenew: true, ...renewing }),
    notifications: [buildNotificationType('DID_CHANGE_RENEWAL_STATUS', 'AUTO_RENEW_ENABLED')],
  };
}

/** Announces a price increase for the next period, which requires consent. Default: 20 % more. */
export function increasePrice(purchase: Purchase, priceMicros?: number): Transition {
  const { state, willRenew, renewal } = requireSubscription(purchase);
  requirePossible(
    state === 'ACTIVE' && willRenew,
    purchase,
    `is ${state}${willRenew ? '' : ' and canceled'}: no renewal is scheduled`,
  );
  const raised = priceMicros ?? computeRaisedPrice(renewal.priceMicros);
  requirePossible(raised > renewal.priceMicros, purchase, `already renews for ${renewal.priceMicros} micros`);
  return {
    purchase: withSubscription(purchase, { priceIncrease: { accepted: false, priceMicros: raised } }),
    notifications: [buildNotificationType('PRICE_INCREASE', 'PENDING')],
  };
}

/** Accepts the announced price increase. */
export function acceptPriceIncrease(purchase: Purchase): Transition {
  const { priceIncrease } = requireSubscription(purchase);
  requirePossible(priceIncrease?.accepted === false, purchase, 'does not have a pending price increase');
  return {
    purchase: withSubscription(purchase, { priceIncrease: { ...priceIncrease, accepted: true } }),
    notifications: [buildNotificationType('PRICE_INCREASE', 'ACCEPTED')],
  };
}
