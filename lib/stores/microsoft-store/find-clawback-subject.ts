import { platformTokens, withoutPlatform, withPlatform } from '../../foundation/platform.ts';
import { dayMs } from '../../foundation/time.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import type { StoreContext } from '../store-context.ts';
import type { Clawback } from './clawback-event.ts';
import type { ClawbackEvent } from './payloads.ts';

/** The stored purchase of a clawback event, and the data that identifies the payment. */
export type ClawbackSubject = Pick<Clawback, 'purchaseId' | 'transactionId' | 'periodStart'>;

type StoredData = Pick<StoreContext, 'findPurchase' | 'listTransactionsById'>;

/** Finds the stored purchase of an event. Returns undefined if it is not stored. */
export async function findClawbackSubject(
  event: ClawbackEvent,
  storedData: StoredData,
): Promise<ClawbackSubject | undefined> {
  const { recurrenceId, durationIntervalStart } = event.data.recurrenceData ?? {};
  const purchaseId = recurrenceId === undefined ? undefined : withPlatform(platformTokens.microsoftStore, recurrenceId);
  if (purchaseId === undefined || !(await storedData.findPurchase?.(purchaseId)))
    return await findByOrder(event, storedData);
  return { purchaseId, ...(durationIntervalStart != null && { periodStart: durationIntervalStart }) };
}

/** An order can contain several products. */
async function findByOrder({ data: { orderId, productId } }: ClawbackEvent, { listTransactionsById }: StoredData) {
  if (orderId === '') return undefined;
  const payments = (await listTransactionsById?.(withPlatform(platformTokens.microsoftStore, orderId))) ?? [];
  const payment = payments.find((item) => withoutPlatform(item.productId).toUpperCase() === productId.toUpperCase());
  return payment && { purchaseId: payment.purchaseId, transactionId: payment.transactionId };
}

/** Shorter than any billing period, longer than any clock difference. */
const periodStartToleranceMs = 2 * dayMs;

/**
 * Finds the reversed payment. Payments of a subscription lack an id at the store, so the period start identifies them.
 */
export function findPayment(
  payments: readonly Transaction[],
  { transactionId, periodStart }: Pick<ClawbackSubject, 'transactionId' | 'periodStart'>,
): Transaction | undefined {
  if (transactionId !== undefined) return payments.find((payment) => payment.transactionId === transactionId);
  if (periodStart === undefined) return undefined;
  const getDistanceMs = ({ purchaseDate }: Transaction): number => Math.abs(purchaseDate - periodStart);
  const [closest] = [...payments].sort((a, b) => getDistanceMs(a) - getDistanceMs(b));
  return closest && getDistanceMs(closest) < periodStartToleranceMs ? closest : undefined;
}
