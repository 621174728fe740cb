import { addPeriod, type Period } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import { requirePossible, requireSubscription } from '../purchase-checks.ts';
import { withoutRefunds } from './items.ts';
import {
  buildNotificationType,
  getPaidUntil,
  getPeriod,
  type NotificationType,
  replaceTransaction,
  requireTransaction,
  type Transition,
  type TransitionContext,
  withLatestTransaction,
  withSubscription,
  withSubscriptionState,
} from './purchase-transition.ts';
import { getInitialNotification } from './purchasing.ts';
import { getLatestTransaction, type Purchase, type Transaction } from './records.ts';

/**
 * Extends the current period without a payment. Default: two weeks.
 *
 * @see https://developer.apple.com/documentation/appstoreserverapi/extend-a-subscription-renewal-date
 */
export function extendRenewalDate(purchase: Purchase, { at }: TransitionContext, period: Period = 'P14D'): Transition {
  const { state, anchor } = requireSubscription(purchase);
  requirePossible(state === 'ACTIVE', purchase, `is ${state}: only an active subscription can be extended`);
  const expiresDate = addPeriod(getPaidUntil(purchase), period);
  const extended = withLatestTransaction(purchase, { expiresDate, changedAt: at });
  const anchored = withSubscription(extended, { anchor: { ...anchor, date: expiresDate, periods: 0 } });
  return { purchase: anchored, notifications: [buildNotificationType('RENEWAL_EXTENDED')] };
}

/** Redeems an offer code that reduces the price of the next renewal. Default: half the price. */
export function redeemOffer(purchase: Purchase, { product }: TransitionContext, priceMicros?: number): Transition {
  const { state, willRenew, renewal } = requireSubscription(purchase);
  requirePossible(
    state === 'ACTIVE' && willRenew,
    purchase,
    `is ${state}${willRenew ? '' : ' and canceled'}: no renewal is scheduled`,
  );
  const price = priceMicros ?? Math.round(renewal.priceMicros / 20_000) * 10_000;
  const nextOffer = {
    discountType: price === 0 ? ('FREE_TRIAL' as const) : ('PAY_AS_YOU_GO' as const),
    period: getPeriod(product(renewal.productId)),
    code: 'thank-you',
    priceMicros: price,
  };
  return {
    purchase: withSubscription(purchase, { nextOffer }),
    notifications: [buildNotificationType('OFFER_REDEEMED')],
  };
}

const reasons = ['UNINTENDED_PURCHASE', 'FULFILLMENT_ISSUE', 'UNSATISFIED_WITH_PURCHASE', 'LEGAL', 'OTHER'];

/** Returns the reason of a refund request. Throws 400 for a reason that Apple does not have. */
export function toConsumptionReason(reason = 'UNINTENDED_PURCHASE'): string {
  if (!reasons.includes(reason)) throw controlError(400, `reason: expected one of ${reasons.join(', ')}.`);
  return reason;
}

/**
 * Requests a refund. Apple requests consumption data from the developer; the purchase does not change.
 *
 * @see https://developer.apple.com/documentation/storekit/handling-refund-notifications
 */
export const requestRefund = (
  purchase: Purchase,
  { transactionId, reason }: { readonly transactionId?: string | undefined; readonly reason: string },
): Transition =>
  withNotification(
    purchase,
    { ...buildNotificationType('CONSUMPTION_REQUEST'), consumptionRequestReason: reason },
    transactionId,
  );

/** Declines the refund request. */
export const declineRefund = (
  purchase: Purchase,
  _context: TransitionContext,
  { transactionId }: { readonly transactionId?: string | undefined } = {},
): Transition => withNotification(purchase, buildNotificationType('REFUND_DECLINED'), transactionId);

/** Reverses the latest refund. The customer has access again, without automatic renewal. */
export function reverseRefund(
  purchase: Purchase,
  { at }: TransitionContext,
  transactionId = getLatestTransaction(purchase).transactionId,
): Transition {
  const refunded = requireTransaction(purchase, transactionId);
  const { revocation, items = [] } = refunded;
  const isRefunded = revocation?.type?.startsWith('REFUND_') || items.some(({ refunds }) => refunds !== undefined);
  requirePossible(isRefunded, purchase, `has not refunded ${transactionId}`);
  const notifications = [{ ...buildNotificationType('REFUND_REVERSED'), transactionId }];
  return { purchase: withoutRevocation(purchase, refunded, at), notifications };
}

/**
 * Returns the access of a share after the reversal of the owner's refund. Apple does not document the notification of
 * this case: the member receives access through sharing again.
 *
 * @see https://developer.apple.com/documentation/appstoreservernotifications/notificationtype
 */
export function restoreShare(share: Purchase, { at, product }: TransitionContext): Transition {
  const latest = getLatestTransaction(share);
  const purchase = withoutRevocation(share, latest, at);
  if (purchase.subscription === undefined)
    return { purchase, notifications: [getInitialNotification(product(latest.productId))] };
  const isActive = purchase.subscription.state === 'ACTIVE';
  return { purchase, notifications: isActive ? [buildNotificationType('SUBSCRIBED', 'RESUBSCRIBE')] : [] };
}

/**
 * The fields of the revocation vanish from the transaction.
 *
 * @see https://developer.apple.com/forums/thread/757986
 */
function withoutRevocation(purchase: Purchase, revoked: Transaction, at: number): Purchase {
  const { revocation: _reversed, items, ...paid } = revoked;
  const transaction = { ...paid, ...(items && { items: items.map(withoutRefunds) }), changedAt: at };
  const restored = { ...purchase, transactions: replaceTransaction(purchase.transactions, transaction) };
  if (purchase.subscription?.state !== 'REVOKED' || revoked !== getLatestTransaction(purchase)) return restored;
  return withSubscriptionState(
    restored,
    getPaidUntil(restored) > at
      ? { state: 'ACTIVE', willRenew: false }
      : { state: 'EXPIRED', willRenew: false, expirationIntent: 1 },
  );
}

function withNotification(
  purchase: Purchase,
  type: NotificationType,
  transactionId = getLatestTransaction(purchase).transactionId,
): Transition {
  const { revocation } = requireTransaction(purchase, transactionId);
  requirePossible(revocation === undefined, purchase, 'is refunded or revoked already');
  return { purchase, notifications: [{ ...type, transactionId }] };
}
