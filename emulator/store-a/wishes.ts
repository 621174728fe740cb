import { expire } from './billing.ts';
import { type Change, demand, type Moment, notice, subscriptionOf, withSubscription } from './change.ts';
import type { Purchase } from './records.ts';

/** The customer switches the renewal off; while a payment is being retried that ends the subscription. */
export function cancel(purchase: Purchase, moment: Moment): Change {
  const { state, willRenew } = subscriptionOf(purchase);
  demand(willRenew, purchase, `is ${state} and does not renew anyway`);
  const cancelled = withSubscription(purchase, { willRenew: false });
  const disabled = notice('DID_CHANGE_RENEWAL_STATUS', 'AUTO_RENEW_DISABLED');
  if (state !== 'BILLING_RETRY') return { purchase: cancelled, notices: [disabled] };
  const expired = expire(cancelled, moment);
  return { purchase: expired.purchase, notices: [disabled, ...expired.notices] };
}

/** The customer switches the renewal on again, before the end. */
export function uncancel(purchase: Purchase): Change {
  const { state, willRenew } = subscriptionOf(purchase);
  demand(state === 'ACTIVE' || state === 'BILLING_GRACE_PERIOD', purchase, `is ${state}: renew buys it again`);
  demand(!willRenew, purchase, 'was not cancelled');
  return {
    purchase: withSubscription(purchase, { willRenew: true }),
    notices: [notice('DID_CHANGE_RENEWAL_STATUS', 'AUTO_RENEW_ENABLED')],
  };
}

/** The developer asks for a higher price from the next period on, a fifth more unless said; it needs consent. */
export function raisePrice(purchase: Purchase, priceMicros?: number): Change {
  const { state, willRenew, renewal } = subscriptionOf(purchase);
  demand(
    state === 'ACTIVE' && willRenew,
    purchase,
    `is ${state}${willRenew ? '' : ' and cancelled'}: no price is to come`,
  );
  const raised = priceMicros ?? Math.round((renewal.priceMicros * 1.2) / 10_000) * 10_000;
  demand(raised > renewal.priceMicros, purchase, `already renews for ${renewal.priceMicros} micros`);
  return {
    purchase: withSubscription(purchase, { priceIncrease: { accepted: false, priceMicros: raised } }),
    notices: [notice('PRICE_INCREASE', 'PENDING')],
  };
}

/** The customer consents to the higher price. */
export function acceptPrice(purchase: Purchase): Change {
  const { priceIncrease } = subscriptionOf(purchase);
  demand(priceIncrease?.accepted === false, purchase, 'awaits no consent to a price');
  return {
    purchase: withSubscription(purchase, { priceIncrease: { ...priceIncrease, accepted: true } }),
    notices: [notice('PRICE_INCREASE', 'ACCEPTED')],
  };
}
