import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import type { StoreContext } from '../store-context.ts';

/** The state of a subscription follows what happened by hours. */
const stateLagMs = 24 * 60 * 60 * 1000;

/**
 * The looks with the refunds that the table knows: only the clawback queue tells of them, so that a look which shows none
 * does not mean that the money came back.
 */
export const withKnownRefunds = async (
  observations: readonly Observation[],
  context: Pick<StoreContext, 'findPurchase' | 'listTransactions'>,
): Promise<Observation[]> =>
  await Promise.all(observations.map((observation) => withKnownRefund(observation, context)));

async function withKnownRefund(
  observation: Observation,
  { findPurchase, listTransactions }: Pick<StoreContext, 'findPurchase' | 'listTransactions'>,
): Promise<Observation> {
  const known = (await listTransactions?.(observation.purchase.purchaseId)) ?? [];
  const refunds = new Map(
    known.flatMap(({ transactionId, refundedAt }) => (refundedAt === undefined ? [] : [[transactionId, refundedAt]])),
  );
  if (refunds.size === 0) return observation;
  const stored = await findPurchase?.(observation.purchase.purchaseId);
  const isRefunded = refunds.has(observation.purchase.transactionId);
  return {
    ...observation,
    purchase: stored && isRefunded ? withEnd(observation, stored) : observation.purchase,
    transactions: observation.transactions.map((transaction) => withRefundDate(transaction, refunds)),
  };
}

function withRefundDate(transaction: Transaction, refunds: ReadonlyMap<string, number>): Transaction {
  const refundedAt = transaction.refundedAt ?? refunds.get(transaction.transactionId);
  return refundedAt === undefined ? transaction : { ...transaction, refundedAt };
}

/** What was used up shows no end, and other things do not show it at once. */
function withEnd({ purchase, asOf }: Observation, { transactionId, endedAt, cancelationReason }: Purchase): Purchase {
  const isSame = purchase.transactionId === transactionId && purchase.endedAt === undefined;
  if (!isSame || endedAt === undefined || (purchase.isConsumed !== true && asOf - endedAt > stateLagMs))
    return purchase;
  return {
    ...purchase,
    endedAt,
    ...(cancelationReason && { cancelationReason }),
    ...(purchase.renewalIntent && { renewalIntent: 'Lapse' }),
  };
}
