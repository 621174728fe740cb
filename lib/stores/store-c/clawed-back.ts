import { bare, prefixed } from '../../purchases/platform.ts';
import type { Millis } from '../../purchases/purchase.ts';
import type { Transaction } from '../../transactions/transaction.ts';
import type { Asking } from '../store.ts';
import type { Clawback, ClawbackEvent } from './clawback-event.ts';

/** The purchase that an event is about, and what its payment is known by. */
export type ClawedBack = Pick<Clawback, 'purchaseId' | 'transactionId' | 'periodStart'>;

type Known = Pick<Asking, 'purchaseOf' | 'transactionsNamed'>;

/** What an event is about; undefined when the table knows no such purchase. */
export async function clawedBack(event: ClawbackEvent, known: Known): Promise<ClawedBack | undefined> {
  const { recurrenceId, durationIntervalStart } = event.data.recurrenceData ?? {};
  const purchaseId = recurrenceId === undefined ? undefined : prefixed('store_c', recurrenceId);
  if (purchaseId === undefined || !(await known.purchaseOf?.(purchaseId))) return await ordered(event, known);
  return { purchaseId, ...(durationIntervalStart != null && { periodStart: durationIntervalStart }) };
}

/** Several products can be bought with one order. */
async function ordered({ data: { orderId, productId } }: ClawbackEvent, { transactionsNamed }: Known) {
  if (orderId === '') return undefined;
  const payments = (await transactionsNamed?.(prefixed('store_c', orderId))) ?? [];
  const payment = payments.find((one) => bare(one.productId).toUpperCase() === productId.toUpperCase());
  return payment && { purchaseId: payment.purchaseId, transactionId: payment.transactionId };
}

/** No period is that short, and no two clocks are that far apart. */
const toleranceMs = 2 * 24 * 60 * 60 * 1000;

/** The payment that went back; those of subscriptions have no names at the store and are told by the start of their period. */
export function paymentIn(
  payments: readonly Transaction[],
  { transactionId, periodStart }: Pick<ClawedBack, 'transactionId' | 'periodStart'>,
): Transaction | undefined {
  if (transactionId !== undefined) return payments.find((payment) => payment.transactionId === transactionId);
  if (periodStart === undefined) return undefined;
  const distance = ({ purchaseDate }: Transaction): Millis => Math.abs(purchaseDate - periodStart);
  const [closest] = [...payments].sort((one, other) => distance(one) - distance(other));
  return closest && distance(closest) < toleranceMs ? closest : undefined;
}
