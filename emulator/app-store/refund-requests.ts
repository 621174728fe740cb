import { hourMs } from '../calendar.ts';
import { type HttpResponse, jsonResponse, type StoreHttpRequest, textResponse } from '../http-messages.ts';
import { findOpenRequest, openRefundRequest, type RefundRequest, withAnswer } from '../refund-request.ts';
import type { Action } from './action.ts';
import { apiError } from './api-error.ts';
import { type ConsumptionRequest, parseConsumption, parseVersionOne } from './consumption.ts';
import { declineRefund, toConsumptionReason } from './extensions-and-refund-requests.ts';
import { getLatestTransaction, type Purchase } from './records.ts';
import { refund, revokeRefundedShare } from './revocation.ts';
import { applyActionToPurchase, type OperationContext } from './store-operations.ts';
import type { OwnedTransaction, StoreState } from './store-state.ts';

/**
 * Time for the consumption information.
 *
 * @see https://developer.apple.com/documentation/appstoreserverapi/send-consumption-information
 */
const answerTimeMs = 12 * hourMs;

/** Opens the request for a transaction. A repeated request does not move the deadline. */
export function openRequest(
  { refundRequests }: StoreState,
  purchase: Purchase,
  {
    at,
    reason,
    transactionId = getLatestTransaction(purchase).transactionId,
  }: { readonly at: number; readonly reason: string | undefined; readonly transactionId: string | undefined },
): void {
  if (findOpenRequest(refundRequests, transactionId)) return;
  const count = [...refundRequests.values()].filter((request) => request.transactionId === transactionId).length;
  const request = openRefundRequest({
    id: `${transactionId}-${count + 1}`,
    purchaseId: purchase.id,
    transactionId,
    reason: toConsumptionReason(reason),
    requestedAt: at,
    deadline: at + answerTimeMs,
  });
  refundRequests.set(request.id, request);
}

/** Closes the requests that an action of the store decided: a refund, or its refusal. */
export function closeDecidedRequests({ refundRequests }: StoreState, purchase: Purchase, at: number): void {
  for (const request of refundRequests.values()) {
    if (request.purchaseId !== purchase.id || request.decision !== undefined) continue;
    if (isRefunded(purchase, request)) save(refundRequests, request, { at, outcome: 'approved' });
  }
}

/** Closes the open request that a refusal concerns. */
export function closeDeclinedRequests({ refundRequests }: StoreState, purchase: Purchase, at: number): void {
  for (const request of refundRequests.values()) {
    if (request.purchaseId === purchase.id && request.decision === undefined)
      save(refundRequests, request, { at, outcome: 'declined' });
  }
}

function save(
  requests: StoreState['refundRequests'],
  request: RefundRequest,
  decision: NonNullable<RefundRequest['decision']>,
): void {
  requests.set(request.id, { ...request, decision });
}

const isRefunded = ({ transactions }: Purchase, { transactionId }: RefundRequest): boolean =>
  transactions.some((transaction) => transaction.transactionId === transactionId && transaction.revocation);

/** The developer's preference, which Apple follows here. It declines a request without a preference. */
const getPreference = ({ answer }: RefundRequest): ConsumptionRequest['refundPreference'] => {
  const preference = answer?.body.refundPreference;
  if (preference === 'GRANT_FULL' || preference === 1) return 'GRANT_FULL';
  return preference === 'GRANT_PRORATED' ? preference : 'DECLINE';
};

const refundAction: Action = { apply: refund, applyToShares: revokeRefundedShare };
const declineAction: Action = { apply: declineRefund };

/** Decides a request: refunds the transaction or declines the refund, with the notification of it. */
export function decideRequest(context: OperationContext, request: RefundRequest, at: number): void {
  const { refundRequests, purchases } = context.state;
  const purchase = purchases.get(request.purchaseId);
  if (purchase === undefined || isRefunded(purchase, request)) {
    save(refundRequests, request, { at, outcome: 'approved' });
    return;
  }
  const { transactionId } = request;
  const preference = getPreference(request);
  const isApproved = preference !== 'DECLINE';
  save(refundRequests, request, { at, outcome: isApproved ? 'approved' : 'declined' });
  const isProrated = preference === 'GRANT_PRORATED' && hasUnusedTime(purchase, transactionId, at);
  const details = { transactionId, ...(isProrated && { prorated: true }) };
  applyActionToPurchase(context, purchase, isApproved ? refundAction : declineAction, { at, details });
}

const hasUnusedTime = ({ transactions }: Purchase, transactionId: string, at: number): boolean =>
  transactions.some((one) => one.transactionId === transactionId && (one.expiresDate ?? 0) > at);

const parsers = {
  '/inApps/v1/transactions/consumption/': parseVersionOne,
  '/inApps/v2/transactions/consumption/': parseConsumption,
} as const;

export const isConsumptionFolder = (folder: string): folder is keyof typeof parsers => Object.hasOwn(parsers, folder);

/**
 * `PUT /inApps/v2/transactions/consumption/{transactionId}`: decides the request with the information. Apple accepts
 * information without a request, and after the decision.
 *
 * @see https://developer.apple.com/documentation/appstoreserverapi/send-consumption-information
 */
export function answerRequest(
  context: OperationContext,
  owned: OwnedTransaction,
  { folder, call }: { readonly folder: keyof typeof parsers; readonly call: StoreHttpRequest },
): HttpResponse {
  const { state, now } = context;
  const body = parseObject(call.body.toString('utf8'));
  parsers[folder](state, owned, body);
  const { transactionId } = owned.transaction;
  const request =
    findOpenRequest(state.refundRequests, transactionId) ??
    [...state.refundRequests.values()].findLast((candidate) => candidate.transactionId === transactionId);
  if (request) {
    const answered = withAnswer(request, { at: now(), body });
    state.refundRequests.set(request.id, answered);
    if (answered.answer && !answered.decision) decideRequest(context, answered, now());
  }
  return folder.startsWith('/inApps/v1') ? jsonResponse(202, {}) : textResponse(202, '');
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { ...body };
  } catch {
    // Reported below.
  }
  throw apiError(4000000, 'Bad request.');
}
