import { requirePossible } from '../purchase-checks.ts';
import type { ActionBody } from '../purchase-order.ts';
import { listNextItems, refundItems, sumPrices } from './items.ts';
import {
  buildNotificationType,
  type NotificationType,
  replaceTransaction,
  requireTransaction,
  type Transition,
  type TransitionContext,
  withSubscription,
  withSubscriptionState,
} from './purchase-transition.ts';
import { getLatestTransaction, type Purchase, type Transaction } from './records.ts';
import { getAmountMicros, listPeriodTransactions } from './seats.ts';

type Revocation = NonNullable<Transaction['revocation']>;

/** 100 % in the unit of `revocationPercentage`. */
const fullPercentage = 100_000;

/**
 * Refunds a transaction, by default the latest, or a part of its price. The refund of the latest transaction ends a
 * subscription, also a prorated one. A one-time purchase continues after the refund of a part.
 *
 * @see https://developer.apple.com/documentation/appstoreserverapi/revocationpercentage
 */
export function refund(purchase: Purchase, { at }: TransitionContext, details: ActionBody): Transition {
  const { transactionId = getLatestTransaction(purchase).transactionId } = details;
  const refunded = requireTransaction(purchase, transactionId);
  if (refunded.items) return refundSoldItems(purchase, refunded, { at, details });
  const percentage = details.prorated
    ? computeUnusedPercentage(purchase, refunded, at)
    : computePercentage(purchase, refunded, details);
  const type = percentage < fullPercentage ? 'REFUND_PRORATED' : 'REFUND_FULL';
  const revocation = { date: at, reason: 0, type, percentage } as const;
  const notifications = [{ ...buildNotificationType('REFUND'), transactionId }];
  if (type === 'REFUND_PRORATED' && purchase.subscription === undefined)
    return { purchase: withRevocation(purchase, refunded, revocation), notifications };
  return endWithRefund(purchase, refunded, revocation);
}

function endWithRefund(purchase: Purchase, transaction: Transaction, revocation: Revocation): Transition {
  const { transactionId } = transaction;
  const ends = endsWith(purchase, transaction) && purchase.subscription?.willRenew === true;
  const notifications: NotificationType[] = [{ ...buildNotificationType('REFUND'), transactionId }];
  if (ends) notifications.push(buildNotificationType('DID_CHANGE_RENEWAL_STATUS', 'AUTO_RENEW_DISABLED'));
  return { purchase: revokeTransaction(purchase, transaction, revocation), notifications };
}

/**
 * Refunds items of the Advanced Commerce API. The transaction is revoked with its last item, without a type.
 *
 * @see https://developer.apple.com/documentation/storekit/transaction/revocationtype-swift.property
 */
function refundSoldItems(
  purchase: Purchase,
  transaction: Transaction,
  { at, details }: { readonly at: number; readonly details: ActionBody },
): Transition {
  const refunded = { ...transaction, items: refundItems(purchase, transaction, { at, details }), changedAt: at };
  const changed = { ...purchase, transactions: replaceTransaction(purchase.transactions, refunded) };
  const nextItems = listNextItems(refunded) ?? [];
  if (nextItems.length === 0) return endWithRefund(changed, refunded, { date: at, reason: 0 });
  const { subscription } = changed;
  const renewal = subscription && { ...subscription.renewal, priceMicros: sumPrices(nextItems) };
  return {
    purchase: renewal ? withSubscription(changed, { renewal }) : changed,
    notifications: [{ ...buildNotificationType('REFUND'), transactionId: refunded.transactionId }],
  };
}

/** Revokes a share together with the owner's purchase, unless the owner keeps a purchase after a partial refund. */
export const revokeRefundedShare = (
  share: Purchase,
  context: TransitionContext,
  { amountMicros, quantity, transactionId }: ActionBody,
): Transition =>
  share.subscription === undefined && (amountMicros !== undefined || quantity !== undefined)
    ? { purchase: share, notifications: [] }
    : revokeShare(share, context, transactionId === undefined ? {} : { ownerTransactionId: transactionId });

/** Returns the share of a subscription period that is left at `at`. */
function computeUnusedPercentage(purchase: Purchase, { purchaseDate, expiresDate }: Transaction, at: number): number {
  requirePossible(expiresDate !== undefined, purchase, 'is not a subscription: a prorated refund needs a period');
  const percentage = Math.round(((expiresDate - at) / (expiresDate - purchaseDate)) * fullPercentage);
  requirePossible(percentage > 0, purchase, 'has no unused time in this period');
  return Math.min(percentage, fullPercentage);
}

/** Returns the refunded share of the price, together with earlier partial refunds of the transaction. */
function computePercentage(
  purchase: Purchase,
  transaction: Transaction,
  { amountMicros, quantity }: ActionBody,
): number {
  if (amountMicros === undefined && quantity === undefined) return fullPercentage;
  const { quantity: boughtQuantity, revocation } = transaction;
  const total = getAmountMicros(transaction);
  const amount = amountMicros ?? (total * (quantity ?? boughtQuantity)) / boughtQuantity;
  const percentage = (revocation?.percentage ?? 0) + Math.round((amount / total) * fullPercentage);
  requirePossible(percentage <= fullPercentage, purchase, `was paid with ${total} micros, less than the refund`);
  return percentage;
}

/**
 * Revokes a purchase: for a share the end of sharing or of the seat's assignment, otherwise a refund without the type
 * that the App Store reports since 2025.
 */
export const revoke = (purchase: Purchase, context: TransitionContext): Transition =>
  purchase.sharedFrom === undefined
    ? toRevoked(purchase, { date: context.at, reason: 0 })
    : revokeShare(purchase, context);

const revokeShare = (
  share: Purchase,
  { at }: TransitionContext,
  cause: Pick<Revocation, 'ownerTransactionId'> = {},
): Transition =>
  toRevoked(share, {
    date: at,
    reason: 0,
    type: share.isAssigned ? 'ASSIGNMENT_REVOKE' : 'FAMILY_REVOKE',
    ...cause,
  });

const toRevoked = (purchase: Purchase, revocation: Revocation): Transition => ({
  purchase: revokeTransaction(purchase, getLatestTransaction(purchase), revocation),
  notifications: [buildNotificationType('REVOKE')],
});

function revokeTransaction(purchase: Purchase, transaction: Transaction, revocation: Revocation): Purchase {
  const revoked = withRevocation(purchase, transaction, revocation);
  const hasEnded = purchase.subscription === undefined || purchase.subscription.state === 'EXPIRED';
  const endsNow = !hasEnded && endsWith(purchase, transaction);
  return endsNow ? withSubscriptionState(revoked, { state: 'REVOKED', willRenew: false }) : revoked;
}

/** The revocation of the transaction leaves no valid transaction of the current period. */
const endsWith = (purchase: Purchase, transaction: Transaction): boolean => {
  const period = listPeriodTransactions(purchase);
  return period.includes(transaction) && period.every((other) => other === transaction || other.revocation);
};

function withRevocation(purchase: Purchase, transaction: Transaction, revocation: Revocation): Purchase {
  const isPartial = transaction.revocation === undefined || transaction.revocation.type === 'REFUND_PRORATED';
  requirePossible(isPartial, purchase, `already lost ${transaction.transactionId}`);
  const changed: Transaction = { ...transaction, revocation, changedAt: revocation.date };
  return { ...purchase, transactions: replaceTransaction(purchase.transactions, changed) };
}
