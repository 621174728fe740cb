import type { Transaction } from '../../purchases/transaction.ts';
import { withoutPlatform, withPlatform } from '../../shared/platform.ts';
import type { EpochMillis } from '../../shared/time.ts';
import type { StoreContext } from '../store-context.ts';
import type { Clawback, ClawbackEvent } from './clawback-event.ts';

/** The purchase that an event is about, and what its payment is known by. */
export type ClawbackSubject = Pick<Clawback, 'purchaseId' | 'transactionId' | 'periodStart'>;

type PurchaseLookup = Pick<StoreContext, 'findPurchase' | 'listTransactionsById'>;

/** What an event is about; undefined when the table knows no such purchase. */
export async function findClawbackSubject(
  event: ClawbackEvent,
  known: PurchaseLookup,
): Promise<ClawbackSubject | undefined> {
  const { recurrenceId, durationIntervalStart } = event.data.recurrenceData ?? {};
  const purchaseId = recurrenceId === undefined ? undefined : withPlatform('store_c', recurrenceId);
  if (purchaseId === undefined || !(await known.findPurchase?.(purchaseId))) return await findByOrder(event, known);
  return { purchaseId, ...(durationIntervalStart != null && { periodStart: durationIntervalStart }) };
}

/** Several products can be bought with one order. */
async function findByOrder({ data: { orderId, productId } }: ClawbackEvent, { listTransactionsById }: PurchaseLookup) {
  if (orderId === '') return undefined;
  const payments = (await listTransactionsById?.(withPlatform('store_c', orderId))) ?? [];
  const payment = payments.find((one) => withoutPlatform(one.productId).toUpperCase() === productId.toUpperCase());
  return payment && { purchaseId: payment.purchaseId, transactionId: payment.transactionId };
}

/** No period is that short, and no two clocks are that far apart. */
const toleranceMs = 2 * 24 * 60 * 60 * 1000;

/** The payment that went back; those of subscriptions have no names at the store and are told by the start of their period. */
export function findPayment(
  payments: readonly Transaction[],
  { transactionId, periodStart }: Pick<ClawbackSubject, 'transactionId' | 'periodStart'>,
): Transaction | undefined {
  if (transactionId !== undefined) return payments.find((payment) => payment.transactionId === transactionId);
  if (periodStart === undefined) return undefined;
  const distance = ({ purchaseDate }: Transaction): EpochMillis => Math.abs(purchaseDate - periodStart);
  const [closest] = [...payments].sort((one, other) => distance(one) - distance(other));
  return closest && distance(closest) < toleranceMs ? closest : undefined;
}
