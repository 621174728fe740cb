import { addPeriod, type Period } from '../calendar.ts';
import {
  buildNotificationType,
  getPaidUntil,
  getPeriod,
  replaceTransaction,
  requirePossible,
  requireSubscription,
  type Transition,
  type TransitionContext,
  withLatestTransaction,
  withSubscription,
  withSubscriptionState,
} from './purchase-transition.ts';
import { getLatestTransaction, type Purchase, type Transaction } from './records.ts';

/** The developer gives time for nothing: the current period ends later, by two weeks unless said. */
export function extendRenewalDate(purchase: Purchase, { at }: TransitionContext, period: Period = 'P14D'): Transition {
  const { state, anchor } = requireSubscription(purchase);
  requirePossible(state === 'ACTIVE', purchase, `is ${state}: only an active subscription is extended`);
  const expiresDate = addPeriod(getPaidUntil(purchase), period);
  const longer = withLatestTransaction(purchase, { expiresDate, changedAt: at });
  const anchored = withSubscription(longer, { anchor: { ...anchor, date: expiresDate, periods: 0 } });
  return { purchase: anchored, notifications: [buildNotificationType('RENEWAL_EXTENDED')] };
}

/** The customer redeems a code: the next renewal costs less, half unless said. */
export function redeemOffer(purchase: Purchase, { product }: TransitionContext, priceMicros?: number): Transition {
  const { state, willRenew, renewal } = requireSubscription(purchase);
  requirePossible(
    state === 'ACTIVE' && willRenew,
    purchase,
    `is ${state}${willRenew ? '' : ' and cancelled'}: no renewal is to come`,
  );
  const price = priceMicros ?? Math.round(renewal.priceMicros / 20_000) * 10_000;
  const comingOffer = {
    discountType: price === 0 ? ('FREE_TRIAL' as const) : ('PAY_AS_YOU_GO' as const),
    period: getPeriod(product(renewal.productId)),
    code: 'thank-you',
    priceMicros: price,
  };
  return {
    purchase: withSubscription(purchase, { comingOffer }),
    notifications: [buildNotificationType('OFFER_REDEEMED')],
  };
}

/** The customer asks for the money back, and the store asks the developer what was consumed; nothing changes yet. */
export const requestRefund = (purchase: Purchase): Transition => withNotification(purchase, 'CONSUMPTION_REQUEST');

/** The store does not pay back what it was asked to. */
export const declineRefund = (purchase: Purchase): Transition => withNotification(purchase, 'REFUND_DECLINED');

/** The store takes its latest refund back: what was paid for is the customer's again, without renewing. */
export function reverseRefund(
  purchase: Purchase,
  { at }: TransitionContext,
  transactionId = getLatestTransaction(purchase).transactionId,
): Transition {
  const refunded = purchase.transactions.find((one) => one.transactionId === transactionId);
  requirePossible(refunded !== undefined, purchase, `has no transaction ${transactionId}`);
  requirePossible(refunded.revocation?.type === 'REFUND_FULL', purchase, `has not paid ${transactionId} back`);
  const { revocation: _past, ...paid } = refunded;
  const transaction: Transaction = { ...paid, changedAt: at };
  const restored = { ...purchase, transactions: replaceTransaction(purchase.transactions, transaction) };
  const notifications = [{ ...buildNotificationType('REFUND_REVERSED'), transactionId }];
  if (purchase.subscription?.state !== 'REVOKED' || refunded !== getLatestTransaction(purchase))
    return { purchase: restored, notifications };
  const state =
    getPaidUntil(restored) > at
      ? ({ state: 'ACTIVE', willRenew: false } as const)
      : ({ state: 'EXPIRED', willRenew: false, expirationIntent: 1 } as const);
  return { purchase: withSubscriptionState(restored, state), notifications };
}

function withNotification(purchase: Purchase, notificationType: string): Transition {
  requirePossible(
    getLatestTransaction(purchase).revocation === undefined,
    purchase,
    'is paid back or taken away already',
  );
  return { purchase, notifications: [buildNotificationType(notificationType)] };
}
