import type { Line } from './lines.ts';
import { fromSignedTransaction } from './signed-transaction.ts';
import { type Reading, readStatuses, readTransaction } from './store-reads.ts';
import type { StoreTransaction } from './store-transaction.ts';
import { lineOf, type Told } from './told.ts';

/**
 * The purchase of a notification as Apple tells it now, with the transaction that the notification names; undefined when
 * Apple does not know it, or speaks of an older period than the notification.
 */
export async function readLine(told: Told, reading: Reading): Promise<Line | undefined> {
  return told.transaction.expiresDate === undefined
    ? await readOneTime(told, reading)
    : await readSubscription(told, reading);
}

async function readSubscription(told: Told, reading: Reading): Promise<Line | undefined> {
  const { originalTransactionId } = told.transaction;
  const answer = await readStatuses(originalTransactionId, reading);
  if (answer.kind !== 'found') return undefined;
  const status = answer.value.find((one) => one.transaction.originalTransactionId === originalTransactionId);
  if (!status) return undefined;
  const { signedAt = 0, transaction } = status;
  const named =
    transaction.transactionId === told.transaction.transactionId ? undefined : await readNamed(told, reading);
  const account = {
    transactions: named ? [named] : [],
    statuses: [status],
    asOf: Math.max(signedAt, transaction.signedAt ?? 0),
    isComplete: true,
  };
  const line = lineOf(told, account);
  return line.status ? line : undefined;
}

/** The transaction of a notification that comes late may have been refunded since, which the latest one does not tell. */
async function readNamed({ transaction }: Told, reading: Reading): Promise<StoreTransaction> {
  const answer = await readTransaction(transaction.transactionId, reading);
  const isSame = answer.kind === 'found' && answer.value.transactionId === transaction.transactionId;
  return isSame ? answer.value : fromSignedTransaction(transaction);
}

async function readOneTime(told: Told, reading: Reading): Promise<Line | undefined> {
  const answer = await readTransaction(told.transaction.transactionId, reading);
  if (answer.kind !== 'found' || answer.value.transactionId !== told.transaction.transactionId) return undefined;
  const transactions = [fromSignedTransaction(told.transaction), answer.value];
  return lineOf(told, { transactions, statuses: [], asOf: answer.value.signedAt ?? told.at, isComplete: true });
}
