import { dayMs, type EpochMillis } from '../../foundation/time.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import type { StoreContext } from '../store-context.ts';

/** `recurrenceState` is updated with a delay of hours. */
const stateLagMs = dayMs;

type StoredData = Pick<StoreContext, 'findPurchase' | 'listTransactions'>;

/** Adds stored refunds to the observations. Only the clawback queue reports refunds, so a query never shows them. */
export const withKnownRefunds = async (
  observations: readonly Observation[],
  storedData: StoredData,
): Promise<Observation[]> =>
  await Promise.all(observations.map((observation) => withKnownRefund(observation, storedData)));

async function withKnownRefund(
  observation: Observation,
  { findPurchase, listTransactions }: StoredData,
): Promise<Observation> {
  const { purchaseId, transactionId } = observation.purchase;
  const storedTransactions = (await listTransactions?.(purchaseId)) ?? [];
  const refundDates = new Map(
    storedTransactions.flatMap((transaction) =>
      transaction.refundedAt === undefined ? [] : [[transaction.transactionId, transaction.refundedAt]],
    ),
  );
  const isRefunded = storedTransactions.some(
    (transaction) =>
      transaction.transactionId === transactionId && (transaction.refundedAt ?? transaction.partialRefunds),
  );
  if (refundDates.size === 0 && !isRefunded) return observation;
  const storedPurchase = await findPurchase?.(purchaseId);
  return {
    ...observation,
    purchase: storedPurchase && isRefunded ? withStoredEnd(observation, storedPurchase) : observation.purchase,
    transactions: observation.transactions.map((transaction) => withRefundDate(transaction, refundDates)),
  };
}

function withRefundDate(transaction: Transaction, refundDates: ReadonlyMap<string, EpochMillis>): Transaction {
  const refundedAt = transaction.refundedAt ?? refundDates.get(transaction.transactionId);
  return refundedAt === undefined ? transaction : { ...transaction, refundedAt };
}

/**
 * Keeps the stored end of a refunded purchase: for a consumed item permanently, otherwise until the state is updated.
 */
function withStoredEnd(
  { purchase, asOf }: Observation,
  { transactionId, endedAt, cancelationReason }: Purchase,
): Purchase {
  const isSamePayment = purchase.transactionId === transactionId && purchase.endedAt === undefined;
  if (!isSamePayment || endedAt === undefined || (purchase.isConsumed !== true && asOf - endedAt > stateLagMs))
    return purchase;
  return {
    ...purchase,
    endedAt,
    ...(cancelationReason && { cancelationReason }),
    ...(purchase.renewalIntent && { renewalIntent: 'Lapse' }),
  };
}
