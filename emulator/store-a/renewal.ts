import { wholeSecond } from '../calendar.ts';
import {
  type Change,
  demand,
  type Moment,
  notice,
  paidUntil,
  periodOf,
  subscriptionOf,
  withTransaction,
} from './change.ts';
import { type BoughtOffer, nextAnchor, type PaidPeriod, periodTransaction } from './period.ts';
import { latest, type Purchase, type Subscription } from './records.ts';

const dayMs = 86_400_000;

/** Pays the next period: at the end of the current one, late while payment failed, or anew after it expired. */
export function renew(purchase: Purchase, moment: Moment): Change {
  const { state } = subscriptionOf(purchase);
  if (state === 'ACTIVE') return renewInTime(purchase, moment);
  if (state === 'BILLING_GRACE_PERIOD' || state === 'BILLING_RETRY') return recover(purchase, moment);
  return resubscribe(purchase, moment);
}

/** The payment that had failed succeeds: without a gap in a grace period, from now on after it. */
export function recover(purchase: Purchase, moment: Moment): Change {
  const { state, willRenew } = subscriptionOf(purchase);
  demand(state === 'BILLING_GRACE_PERIOD' || state === 'BILLING_RETRY', purchase, `is ${state}: no payment failed`);
  demand(willRenew, purchase, 'was cancelled');
  const start = state === 'BILLING_GRACE_PERIOD' ? paidUntil(purchase) : wholeSecond(moment.at);
  return {
    purchase: withPeriod(purchase, { start, reason: 'RENEWAL' }, moment),
    notices: [notice('DID_RENEW', 'BILLING_RECOVERY')],
  };
}

/** The customer buys an ended subscription again; it keeps its original transaction id. */
export function resubscribe(purchase: Purchase, moment: Moment, offer?: BoughtOffer): Change {
  const { state } = subscriptionOf(purchase);
  demand(state === 'EXPIRED' || state === 'REVOKED', purchase, `is ${state}: it has not ended`);
  return {
    purchase: withPeriod(purchase, { start: wholeSecond(moment.at), reason: 'PURCHASE', offer }, moment),
    notices: [notice('SUBSCRIBED', 'RESUBSCRIBE')],
  };
}

function renewInTime(purchase: Purchase, moment: Moment): Change {
  const { willRenew, priceIncrease } = subscriptionOf(purchase);
  demand(willRenew, purchase, 'was cancelled and does not renew');
  demand(priceIncrease?.accepted !== false, purchase, 'does not renew before its higher price is accepted');
  return {
    purchase: withPeriod(purchase, { start: paidUntil(purchase), reason: 'RENEWAL' }, moment),
    notices: [notice('DID_RENEW')],
  };
}

type NextPeriod = Pick<PaidPeriod, 'start' | 'reason' | 'offer'>;

function withPeriod(purchase: Purchase, next: NextPeriod, moment: Moment): Purchase {
  const before = subscriptionOf(purchase);
  const offer = next.offer ?? (next.reason === 'RENEWAL' ? before.comingOffer : undefined);
  const period = offer?.period ?? periodOf(moment.product(before.renewal.productId));
  const priceMicros = before.priceIncrease?.accepted ? before.priceIncrease.priceMicros : before.renewal.priceMicros;
  const subscription: Subscription = {
    state: 'ACTIVE',
    willRenew: true,
    playsRenewals: before.playsRenewals,
    renewal: { ...before.renewal, priceMicros },
    anchor: nextAnchor(before.anchor, period, next.start),
    recentStart: next.start - paidUntil(purchase) < 60 * dayMs ? before.recentStart : next.start,
  };
  const { anchor, renewal: price } = subscription;
  const transaction = periodTransaction({ ...next, offer, anchor, price, quantity: latest(purchase).quantity }, moment);
  return { ...withTransaction(purchase, transaction), subscription };
}
