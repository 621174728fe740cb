import { bare, prefixed } from '../../purchases/platform.ts';
import type { Millis } from '../../purchases/purchase.ts';
import type { Transaction } from '../../transactions/transaction.ts';
import type { Asking } from '../store.ts';
import type { Clawback, ClawbackEvent } from './clawback-event.ts';

/** No period is that short, and no two clocks are that far apart. */
const toleranceMs = 2 * 24 * 60 * 60 * 1000;

/** The purchase that an event is about, and the payment of it where that can be told. */
export type ClawedBack = Pick<Clawback, 'purchaseId' | 'transactionId'>;

type Known = Pick<Asking, 'purchaseOf' | 'transactionsOf' | 'transactionsNamed'>;

/** What an event is about; undefined when the table knows no such purchase. */
export async function clawedBack(event: ClawbackEvent, known: Known): Promise<ClawedBack | undefined> {
  const { recurrenceId, durationIntervalStart } = event.data.recurrenceData ?? {};
  const purchaseId = recurrenceId === undefined ? undefined : prefixed('store_c', recurrenceId);
  if (purchaseId === undefined || !(await known.purchaseOf?.(purchaseId))) return await ordered(event, known);
  const payments = (await known.transactionsOf?.(purchaseId)) ?? [];
  const payment = periodPayment(payments, durationIntervalStart ?? undefined);
  return { purchaseId, ...(payment && { transactionId: payment.transactionId }) };
}

/** Several products can be bought with one order. */
async function ordered({ data: { orderId, productId } }: ClawbackEvent, { transactionsNamed }: Known) {
  if (orderId === '') return undefined;
  const payments = (await transactionsNamed?.(prefixed('store_c', orderId))) ?? [];
  const payment = payments.find((one) => bare(one.productId).toUpperCase() === productId.toUpperCase());
  return payment && { purchaseId: payment.purchaseId, transactionId: payment.transactionId };
}

/** The store names no payments of subscriptions: they are told by the start of the period that was paid for. */
function periodPayment(payments: readonly Transaction[], start: Millis | undefined): Transaction | undefined {
  if (start === undefined) return undefined;
  const distance = ({ purchaseDate }: Transaction): number => Math.abs(purchaseDate - start);
  const [closest] = [...payments].sort((one, other) => distance(one) - distance(other));
  return closest && distance(closest) < toleranceMs ? closest : undefined;
}
