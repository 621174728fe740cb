import type { Line } from './lines.ts';
import { fromSignedTransaction } from './signed-transaction.ts';
import { type Reading, readStatuses, readTransaction } from './store-reads.ts';
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
  const account = {
    transactions: [fromSignedTransaction(told.transaction)],
    statuses: [status],
    asOf: Math.max(signedAt, transaction.signedAt ?? 0),
    isComplete: true,
  };
  const line = lineOf(told, account);
  return line.status ? line : undefined;
}

async function readOneTime(told: Told, reading: Reading): Promise<Line | undefined> {
  const answer = await readTransaction(told.transaction.transactionId, reading);
  if (answer.kind !== 'found' || answer.value.transactionId !== told.transaction.transactionId) return undefined;
  const transactions = [fromSignedTransaction(told.transaction), answer.value];
  return lineOf(told, { transactions, statuses: [], asOf: answer.value.signedAt ?? told.at, isComplete: true });
}
