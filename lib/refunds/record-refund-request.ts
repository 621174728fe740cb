import type { Service } from '../foundation/service.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { retryUntilWritten } from '../foundation/updates.ts';
import { listTransactionsOfPurchases } from '../purchases/purchase-table.ts';
import type { StoreRefundOutcome, StoreRefundRequest } from '../stores/refund-request.ts';
import { policyLeadMs, type RefundRequest } from './refund-request.ts';
import {
  createRefundRequest,
  findLatestRefundRequest,
  findRefundDecision,
  saveRefundDecision,
  updateRefundRequest,
} from './refund-request-table.ts';

/**
 * Records a store's request for a statement. Idempotent: a store repeats its notification during a review. A request
 * about which the store has decided since is recorded with the outcome: notifications are unordered.
 */
export async function recordRefundRequest(
  service: Service,
  appName: string,
  request: StoreRefundRequest & Pick<RefundRequest, 'eventId'>,
): Promise<RefundRequest> {
  const { purchaseId, transactionId, requestedAt, deadline } = request;
  const payments = await listTransactionsOfPurchases(service, appName, [purchaseId]);
  const outcomeAt = payments.find((payment) => payment.transactionId === transactionId)?.refundedAt ?? 0;
  const decision = (await findRefundDecision(service, appName, transactionId)) ?? { outcome: 'refunded', outcomeAt };
  const outcome = decision.outcomeAt >= requestedAt ? decision : { dueAt: deadline - policyLeadMs };
  return await retryUntilWritten(async () => {
    const latest = await findLatestRefundRequest(service, appName, transactionId);
    if (latest && isSameReview(latest, request)) return latest;
    const created = await createRefundRequest(service, appName, { ...request, ...outcome }, latest);
    // A decision that was stored after it was read did not find the request.
    return created && ((await closeLatest(service, appName, transactionId)) ?? created);
  });
}

/** The notification is of an earlier time, or within a review without outcome. */
const isSameReview = (latest: RefundRequest, { requestedAt }: StoreRefundRequest): boolean =>
  requestedAt <= latest.requestedAt || (latest.outcome === undefined && requestedAt < latest.deadline);

/** Closes the latest request of a payment with the store's decision, or one that is processed later. */
export async function recordRefundOutcome(
  service: Service,
  appName: string,
  { transactionId, outcome }: StoreRefundOutcome,
  outcomeAt: EpochMillis,
): Promise<void> {
  await saveRefundDecision(service, appName, transactionId, { outcome, outcomeAt });
  await closeLatest(service, appName, transactionId);
}

/** Ignores a decision about an older request. */
async function closeLatest(
  service: Service,
  appName: string,
  transactionId: string,
): Promise<RefundRequest | undefined> {
  const decision = await findRefundDecision(service, appName, transactionId);
  const latest = decision && (await findLatestRefundRequest(service, appName, transactionId));
  if (!latest) return undefined;
  const { outcome, outcomeAt } = decision;
  return await updateRefundRequest(service, appName, latest.requestId, (request) => {
    if (outcomeAt < Math.max(request.requestedAt, request.outcomeAt ?? 0) || request.outcome === outcome)
      return request;
    const { dueAt: _settled, ...settled } = request;
    return { ...settled, outcome, outcomeAt };
  });
}
