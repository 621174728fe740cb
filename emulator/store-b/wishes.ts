import { addPeriod, type Period } from '../calendar.ts';
import { periodOf } from './catalogue.ts';
import { type Change, changed, demand, type Moment, subscriptionOf, told, withSubscription } from './change.ts';
import { ended, withoutUnpaid } from './ending.ts';
import { endOf, nextAnchor } from './placing.ts';
import type { Purchase, Subscription } from './records.ts';

const dayMs = 86_400_000;
/** A week in which nobody is told, and the customers' notice of thirty days. */
const noticeDays = 37;

/** The customer switches the renewal off; without access that ends the subscription at once. */
export function cancel(purchase: Purchase, at: number): Change {
  const { state } = subscriptionOf(purchase);
  demand(state !== 'CANCELED' && state !== 'EXPIRED', purchase, `is ${state} already`);
  if (state === 'ON_HOLD' || state === 'PAUSED') {
    return { purchase: ended(purchase, at, 'user'), notices: [told(purchase, 'CANCELED'), told(purchase, 'EXPIRED')] };
  }
  const cancelled = { state: 'CANCELED', autoRenew: false, cancelled: { by: 'user', at } } as const;
  return changed(withoutUnpaid(purchase, at), cancelled, 'CANCELED');
}

/** The customer switches the renewal on again, before the end. */
export function uncancel(purchase: Purchase): Change {
  const { cancelled: _taken, ...subscription } = subscriptionOf(purchase);
  const { state, expiryTime, anchor } = subscription;
  demand(state === 'CANCELED', purchase, `is ${state}: there is no cancellation to take back`);
  demand(expiryTime === endOf(anchor), purchase, 'was cancelled while its payment failed');
  return changed({ ...purchase, subscription }, { state: 'ACTIVE', autoRenew: true }, 'RESTARTED');
}

/** The customer pauses it, for a month unless they say how long; the period that is paid for ends at once. */
export function pause(purchase: Purchase, at: number, period: Period = 'P1M'): Change {
  const { state } = subscriptionOf(purchase);
  demand(state === 'ACTIVE', purchase, `is ${state}: only an active subscription can be paused`);
  const paused = { state: 'PAUSED', expiryTime: at, resumesAt: addPeriod(at, period) } as const;
  return {
    purchase: withSubscription(purchase, paused),
    notices: [told(purchase, 'PAUSE_SCHEDULE_CHANGED'), told(purchase, 'PAUSED')],
  };
}

/** The developer asks for a higher price, a fifth more unless said; it needs consent. */
export function raisePrice(purchase: Purchase, { at, product }: Moment, priceMicros?: number): Change {
  const { state, priceMicros: current } = subscriptionOf(purchase);
  demand(state === 'ACTIVE', purchase, `is ${state}: no price is to come`);
  const raised = priceMicros ?? Math.round((current * 1.2) / 10_000) * 10_000;
  demand(raised > current, purchase, `already renews for ${current} micros`);
  const chargeAt = renewalFrom(subscriptionOf(purchase), periodOf(product), at + noticeDays * dayMs);
  const priceChange = { state: 'OUTSTANDING', priceMicros: raised, chargeAt } as const;
  return changed(purchase, { priceChange }, 'PRICE_CHANGE_UPDATED');
}

/** The customer consents to the higher price, which the next renewal costs. */
export function acceptPrice(purchase: Purchase): Change {
  const { state, priceChange, anchor } = subscriptionOf(purchase);
  demand(priceChange?.state === 'OUTSTANDING' && state !== 'EXPIRED', purchase, 'awaits no consent to a price');
  const confirmed = { ...priceChange, state: 'CONFIRMED', chargeAt: endOf(anchor) } as const;
  return {
    purchase: withSubscription(purchase, { priceChange: confirmed }),
    notices: [told(purchase, 'PRICE_CHANGE_UPDATED')],
  };
}

/** The first renewal that is not before that moment. */
function renewalFrom(subscription: Subscription, period: Period, at: number): number {
  let { anchor } = subscription;
  while (endOf(anchor) < at) anchor = nextAnchor({ ...subscription, anchor }, period);
  return endOf(anchor);
}
