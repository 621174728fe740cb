import { type ApiContext, fetchHistory, fetchStatuses, fetchTransaction } from './fetch-transactions.ts';
import type { TransactionGroup } from './group-by-purchase.ts';
import { fromSignedTransaction } from './signed-transaction.ts';
import type { StoreTransaction } from './store-transaction.ts';
import { findOwnGroup, type VerifiedNotification } from './verified-notification.ts';

/**
 * Fetches the current state of the purchase that a notification concerns. Returns undefined if the API does not return
 * the purchase or if its response is older than the notification.
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
  const { originalTransactionId, transactionId } = notification.transaction;
  const result = await fetchStatuses(originalTransactionId, context);
  if (result.kind !== 'found') return undefined;
  const status = result.value.find(({ transaction }) => transaction.originalTransactionId === originalTransactionId);
  if (!status) return undefined;
  const { signedAt = 0, transaction: latest } = status;
  const group = findOwnGroup(notification, {
    transactions: latest.sharesPeriod
      ? await fetchPeriodTransactions(notification, context)
      : latest.transactionId === transactionId
        ? []
        : [await refetchTransaction(notification, context)],
    statuses: [status],
    asOf: Math.max(signedAt, latest.signedAt ?? 0),
    isComplete: true,
  });
  return group.status ? group : undefined;
}

/** The status contains one of the transactions that represent the period of added seats. */
async function fetchPeriodTransactions(
  { transaction }: VerifiedNotification,
  context: ApiContext,
): Promise<readonly StoreTransaction[]> {
  const history = await fetchHistory(transaction.originalTransactionId, context);
  return history.kind === 'found' ? history.value.transactions : [fromSignedTransaction(transaction)];
}

/**
 * The notification can be late: its transaction may have been refunded since, which the latest transaction does not
 * show.
 */
async function refetchTransaction(
  { transaction }: VerifiedNotification,
  context: ApiContext,
): Promise<StoreTransaction> {
  const result = await fetchTransaction(transaction.transactionId, context);
  const isSame = result.kind === 'found' && result.value.transactionId === transaction.transactionId;
  return isSame ? result.value : fromSignedTransaction(transaction);
}

async function refetchOneTimePurchase(
  notification: VerifiedNotification,
  context: ApiContext,
): Promise<TransactionGroup | undefined> {
  const { transaction, occurredAt } = notification;
  const result = await fetchTransaction(transaction.transactionId, context);
  if (result.kind !== 'found' || result.value.transactionId !== transaction.transactionId) return undefined;
  return findOwnGroup(notification, {
    transactions: [fromSignedTransaction(transaction), result.value],
    statuses: [],
    asOf: result.value.signedAt ?? occurredAt,
    isComplete: true,
  });
}
