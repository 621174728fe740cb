import { type ApiContext, fetchStatuses, fetchTransaction } from './fetch-transactions.ts';
import type { TransactionGroup } from './group-by-purchase.ts';
import { fromSignedTransaction } from './signed-transaction.ts';
import type { StoreTransaction } from './store-transaction.ts';
import { findOwnGroup, type VerifiedNotification } from './verified-notification.ts';

/**
 * The purchase of a notification as Apple tells it now, with the transaction that the notification names; undefined when
 * Apple does not know it, or speaks of an older period than the notification.
 */
export async function refetchPurchase(
  notification: VerifiedNotification,
  context: ApiContext,
): Promise<TransactionGroup | undefined> {
  return notification.transaction.expiresDate === undefined
    ? await refetchOneTimePurchase(notification, context)
    : await refetchSubscription(notification, context);
}

async function refetchSubscription(
  notification: VerifiedNotification,
  context: ApiContext,
): Promise<TransactionGroup | undefined> {
  const { originalTransactionId } = notification.transaction;
  const response = await fetchStatuses(originalTransactionId, context);
  if (response.kind !== 'found') return undefined;
  const status = response.value.find((one) => one.transaction.originalTransactionId === originalTransactionId);
  if (!status) return undefined;
  const { signedAt = 0, transaction } = status;
  const named =
    transaction.transactionId === notification.transaction.transactionId
      ? undefined
      : await refetchNamedTransaction(notification, context);
  const account = {
    transactions: named ? [named] : [],
    statuses: [status],
    asOf: Math.max(signedAt, transaction.signedAt ?? 0),
    isComplete: true,
  };
  const line = findOwnGroup(notification, account);
  return line.status ? line : undefined;
}

/** The transaction of a notification that comes late may have been refunded since, which the latest one does not tell. */
async function refetchNamedTransaction(
  { transaction }: VerifiedNotification,
  context: ApiContext,
): Promise<StoreTransaction> {
  const response = await fetchTransaction(transaction.transactionId, context);
  const isSame = response.kind === 'found' && response.value.transactionId === transaction.transactionId;
  return isSame ? response.value : fromSignedTransaction(transaction);
}

async function refetchOneTimePurchase(
  notification: VerifiedNotification,
  context: ApiContext,
): Promise<TransactionGroup | undefined> {
  const response = await fetchTransaction(notification.transaction.transactionId, context);
  if (response.kind !== 'found' || response.value.transactionId !== notification.transaction.transactionId)
    return undefined;
  const transactions = [fromSignedTransaction(notification.transaction), response.value];
  return findOwnGroup(notification, {
    transactions,
    statuses: [],
    asOf: response.value.signedAt ?? notification.at,
    isComplete: true,
  });
}
