import type { PurchaseRepository } from '../purchases/purchase-repository.ts';
import { retryUntilWritten } from '../shared/retry.ts';
import type { EpochMillis } from '../shared/time.ts';
import type { StoreRefundOutcome, StoreRefundRequest } from '../stores/refund-request.ts';
import { policyLeadMs } from './refund-request.ts';
import type { RefundRequest, RefundRequestRepository } from './refund-request-repository.ts';

export interface RecordDeps {
  readonly purchases: Pick<PurchaseRepository, 'listTransactions'>;
  readonly refundRequests: Pick<
    RefundRequestRepository,
    'findLatest' | 'create' | 'update' | 'findDecision' | 'saveDecision'
  >;
}

/**
 * Records a store's request for a statement. Idempotent: a store repeats its notification during a review. A request
 * about which the store has decided since is recorded with the outcome: notifications have no order.
 */
export async function recordRefundRequest(
  appName: string,
  request: StoreRefundRequest,
  { purchases, refundRequests }: RecordDeps,
): Promise<RefundRequest> {
  const { purchaseId, transactionId, requestedAt, deadline } = request;
  const payments = await purchases.listTransactions(appName, [purchaseId]);
  const refundedAt = payments.find((payment) => payment.transactionId === transactionId)?.refundedAt ?? 0;
  const decision = (await refundRequests.findDecision(appName, transactionId)) ?? {
    outcome: 'refunded',
    outcomeAt: refundedAt,
  };
  const outcome = decision.outcomeAt >= requestedAt ? decision : { dueAt: deadline - policyLeadMs };
  return await retryUntilWritten(async () => {
    const latest = await refundRequests.findLatest(appName, transactionId);
    if (latest && isSameReview(latest, request)) return latest;
    const created = await refundRequests.create(appName, { ...request, ...outcome }, latest);
    // A decision that was stored after it was read did not find the request.
    return created && ((await closeLatest(appName, transactionId, refundRequests)) ?? created);
  });
}

/** Whether the notification is of an earlier time, or within a review that has no outcome. */
const isSameReview = (latest: RefundRequest, { requestedAt }: StoreRefundRequest): boolean =>
  requestedAt <= latest.requestedAt || (latest.outcome === undefined && requestedAt < latest.deadline);

/** Closes the latest request of a payment with the store's decision, or one that is processed later. */
export async function recordRefundOutcome(
  appName: string,
  { transactionId, outcome }: StoreRefundOutcome,
  outcomeAt: EpochMillis,
  { refundRequests }: Pick<RecordDeps, 'refundRequests'>,
): Promise<void> {
  await refundRequests.saveDecision(appName, transactionId, { outcome, outcomeAt });
  await closeLatest(appName, transactionId, refundRequests);
}

/** Ignores a decision about an older request. */
async function closeLatest(
  appName: string,
  transactionId: string,
  refundRequests: RecordDeps['refundRequests'],
): Promise<RefundRequest | undefined> {
  const decision = await refundRequests.findDecision(appName, transactionId);
  const latest = decision && (await refundRequests.findLatest(appName, transactionId));
  if (!latest) return undefined;
  const { outcome, outcomeAt } = decision;
  return await refundRequests.update(appName, latest.requestId, (request) => {
    if (outcomeAt < Math.max(request.requestedAt, request.outcomeAt ?? 0) || request.outcome === outcome)
      return request;
    const { dueAt: _settled, ...settled } = request;
    return { ...settled, outcome, outcomeAt };
  });
}
