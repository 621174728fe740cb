import { addPeriod, type Period } from '../calendar.ts';
import {
  type Change,
  demand,
  type Moment,
  notice,
  paidUntil,
  periodOf,
  replaceIn,
  subscriptionOf,
  withLatest,
  withState,
  withSubscription,
} from './change.ts';
import { latest, type Purchase, type Transaction } from './records.ts';

/** The developer gives time for nothing: the current period ends later, by two weeks unless said. */
export function extend(purchase: Purchase, { at }: Moment, period: Period = 'P14D'): Change {
  const { state, anchor } = subscriptionOf(purchase);
  demand(state === 'ACTIVE', purchase, `is ${state}: only an active subscription is extended`);
  const expiresDate = addPeriod(paidUntil(purchase), period);
  const longer = withLatest(purchase, { expiresDate, changedAt: at });
  const anchored = withSubscription(longer, { anchor: { ...anchor, date: expiresDate, periods: 0 } });
  return { purchase: anchored, notices: [notice('RENEWAL_EXTENDED')] };
}

/** The customer redeems a code: the next renewal costs less, half unless said. */
export function redeemOffer(purchase: Purchase, { product }: Moment, priceMicros?: number): Change {
  const { state, willRenew, renewal } = subscriptionOf(purchase);
  demand(
    state === 'ACTIVE' && willRenew,
    purchase,
    `is ${state}${willRenew ? '' : ' and cancelled'}: no renewal is to come`,
  );
  const price = priceMicros ?? Math.round(renewal.priceMicros / 20_000) * 10_000;
  const comingOffer = {
    discountType: price === 0 ? ('FREE_TRIAL' as const) : ('PAY_AS_YOU_GO' as const),
    period: periodOf(product(renewal.productId)),
    code: 'thank-you',
    priceMicros: price,
  };
  return { purchase: withSubscription(purchase, { comingOffer }), notices: [notice('OFFER_REDEEMED')] };
}

/** The customer asks for the money back, and the store asks the developer what was consumed; nothing changes yet. */
export const requestRefund = (purchase: Purchase): Change => informing(purchase, 'CONSUMPTION_REQUEST');

/** The store does not pay back what it was asked to. */
export const declineRefund = (purchase: Purchase): Change => informing(purchase, 'REFUND_DECLINED');

/** The store takes its latest refund back: what was paid for is the customer's again, without renewing. */
export function reverseRefund(
  purchase: Purchase,
  { at }: Moment,
  transactionId = latest(purchase).transactionId,
): Change {
  const refunded = purchase.transactions.find((one) => one.transactionId === transactionId);
  demand(refunded !== undefined, purchase, `has no transaction ${transactionId}`);
  demand(refunded.revocation?.type === 'REFUND_FULL', purchase, `has not paid ${transactionId} back`);
  const { revocation: _past, ...paid } = refunded;
  const transaction: Transaction = { ...paid, changedAt: at };
  const restored = { ...purchase, transactions: replaceIn(purchase.transactions, transaction) };
  const notices = [{ ...notice('REFUND_REVERSED'), transactionId }];
  if (purchase.subscription?.state !== 'REVOKED' || refunded !== latest(purchase))
    return { purchase: restored, notices };
  const state =
    paidUntil(restored) > at
      ? ({ state: 'ACTIVE', willRenew: false } as const)
      : ({ state: 'EXPIRED', willRenew: false, expirationIntent: 1 } as const);
  return { purchase: withState(restored, state), notices };
}

function informing(purchase: Purchase, notificationType: string): Change {
  demand(latest(purchase).revocation === undefined, purchase, 'is paid back or taken away already');
  return { purchase, notices: [notice(notificationType)] };
}
