import type { PurchaseRepository } from '../purchases/purchase-repository.ts';
import { ServiceError } from '../shared/errors.ts';
import type { EpochMillis } from '../shared/time.ts';
import type { StoreRefundOutcome, StoreRefundRequest } from '../stores/refund-request.ts';
import { policyLeadMs } from './refund-request.ts';
import type { RefundRequest, RefundRequestRepository } from './refund-request-repository.ts';

export interface RecordDeps {
  readonly purchases: Pick<PurchaseRepository, 'listTransactions'>;
  readonly refundRequests: Pick<RefundRequestRepository, 'findLatest' | 'create' | 'update'>;
}

const maxAttempts = 5;

/**
 * Records a store's request for a statement. Idempotent: a store repeats its notification during a review. A request
 * for a payment that was refunded since is recorded with this outcome.
 */
export async function recordRefundRequest(
  appName: string,
  request: StoreRefundRequest,
  { purchases, refundRequests }: RecordDeps,
): Promise<RefundRequest> {
  const payments = await purchases.listTransactions(appName, [request.purchaseId]);
  const { refundedAt = 0 } = payments.find(({ transactionId }) => transactionId === request.transactionId) ?? {};
  const outcome =
    refundedAt >= request.requestedAt
      ? { outcome: 'refunded' as const, outcomeAt: refundedAt }
      : { dueAt: request.deadline - policyLeadMs };
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const latest = await refundRequests.findLatest(appName, request.transactionId);
    if (latest && isSameReview(latest, request)) return latest;
    const created = await refundRequests.create(appName, { ...request, ...outcome }, latest);
    if (created) return created;
  }
  throw new ServiceError('Conflict', 'The refund request was created concurrently. Try again.');
}

/** Whether the notification is of an earlier time, or within a review that has no outcome. */
const isSameReview = (latest: RefundRequest, { requestedAt }: StoreRefundRequest): boolean =>
  requestedAt <= latest.requestedAt || (latest.outcome === undefined && requestedAt < latest.deadline);

/** Closes the latest request of a payment with the store's decision. Ignores a decision that an older one reports. */
export async function recordRefundOutcome(
  appName: string,
  { transactionId, outcome }: StoreRefundOutcome,
  outcomeAt: EpochMillis,
  { refundRequests }: Pick<RecordDeps, 'refundRequests'>,
): Promise<void> {
  const latest = await refundRequests.findLatest(appName, transactionId);
  if (!latest) return;
  await refundRequests.update(appName, latest.requestId, (request) => {
    if (outcomeAt < Math.max(request.requestedAt, request.outcomeAt ?? 0) || request.outcome === outcome)
      return request;
    const { dueAt: _settled, ...settled } = request;
    return { ...settled, outcome, outcomeAt };
  });
}
