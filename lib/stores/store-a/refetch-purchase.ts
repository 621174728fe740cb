import type { TransactionGroup } from './group-by-purchase.ts';
import { fromSignedTransaction } from './signed-transaction.ts';
import { type ApiContext, fetchStatuses, fetchTransaction } from './fetch-transactions.ts';
import type { StoreTransaction } from './store-transaction.ts';
import { findOwnGroup, type VerifiedNotification } from './verified-notification.ts';

/**
 * The purchase of a notification as Apple tells it now, with the transaction that the notification names; undefined when
 * Apple does not know it, or speaks of an older period than the notification.
 */
export async function refetchPurchase(
  notification: VerifiedNotification,
  reading: ApiContext,
): Promise<TransactionGroup | undefined> {
  return notification.transaction.expiresDate === undefined
    ? await refetchOneTimePurchase(notification, reading)
    : await refetchSubscription(notification, reading);
}

async function refetchSubscription(
  notification: VerifiedNotification,
  reading: ApiContext,
): Promise<TransactionGroup | undefined> {
  const { originalTransactionId } = notification.transaction;
  const answer = await fetchStatuses(originalTransactionId, reading);
  if (answer.kind !== 'found') return undefined;
  const status = answer.value.find((one) => one.transaction.originalTransactionId === originalTransactionId);
  if (!status) return undefined;
  const { signedAt = 0, transaction } = status;
  const named =
    transaction.transactionId === notification.transaction.transactionId
      ? undefined
      : await refetchNamedTransaction(notification, reading);
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
  reading: ApiContext,
): Promise<StoreTransaction> {
  const answer = await fetchTransaction(transaction.transactionId, reading);
  const isSame = answer.kind === 'found' && answer.value.transactionId === transaction.transactionId;
  return isSame ? answer.value : fromSignedTransaction(transaction);
}

async function refetchOneTimePurchase(
  notification: VerifiedNotification,
  reading: ApiContext,
): Promise<TransactionGroup | undefined> {
  const answer = await fetchTransaction(notification.transaction.transactionId, reading);
  if (answer.kind !== 'found' || answer.value.transactionId !== notification.transaction.transactionId)
    return undefined;
  const transactions = [fromSignedTransaction(notification.transaction), answer.value];
  return findOwnGroup(notification, {
    transactions,
    statuses: [],
    asOf: answer.value.signedAt ?? notification.at,
    isComplete: true,
  });
}
