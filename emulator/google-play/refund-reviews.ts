import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { dayMs } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import { type HttpResponse, jsonResponse, type StoreHttpRequest } from '../http-messages.ts';
import { parseBody } from '../parse-body.ts';
import { requirePossible } from '../purchase-checks.ts';
import type { ActionBody } from '../purchase-order.ts';
import { findOpenRequest, openRefundRequest, type RefundRequest, withAnswer } from '../refund-request.ts';
import { toObfuscatedAccountId } from './accounts.ts';
import { apiError } from './api-error.ts';
import { revoke, selectOrder } from './end-subscription.ts';
import { isPaid } from './orders.ts';
import {
  buildVoidedNotification,
  type DeveloperNotification,
  type Transition,
  withOrder,
} from './purchase-transition.ts';
import type { Order, Purchase, VoidedOrder } from './records.ts';
import { findOrder, type StoreState } from './store-state.ts';

/**
 * Time for the developer's suggestion.
 *
 * @see https://developer.android.com/google/play/billing/provide-refund-and-chargeback-suggestions
 */
const answerTimeMs = dayMs;
/** `refundReason` of a chargeback, the only reason of a review. */
const chargebackReason = 7;

/** Requests a chargeback of the order with the customer's bank. Google requests a suggestion from the developer. */
export function requestRefund(purchase: Purchase, details: ActionBody): Transition {
  const { reason = 'CHARGEBACK', transactionId } = details;
  if (reason !== 'CHARGEBACK') throw controlError(400, 'reason: Google Play requests reviews of a CHARGEBACK only.');
  const { id, state, amountMicros } = selectOrder(purchase, transactionId);
  requirePossible(isPaid(state) && amountMicros > 0, purchase, `does not have a payment to refund for ${id}`);
  return { purchase, notifications: [] };
}

/** Opens the review and returns its notification. A repeated request does not move the deadline. */
export function openReview(
  { refundRequests }: StoreState,
  purchase: Purchase,
  { at, details: { reason = 'CHARGEBACK', transactionId } }: { readonly at: number; readonly details: ActionBody },
): DeveloperNotification {
  const order = selectOrder(purchase, transactionId);
  const review =
    findOpenRequest(refundRequests, order.id) ??
    openRefundRequest({
      id: randomBytes(24).toString('base64url'),
      purchaseId: purchase.id,
      transactionId: order.id,
      reason,
      requestedAt: at,
      deadline: at + answerTimeMs,
    });
  refundRequests.set(review.id, review);
  const { applicationUsername } = purchase;
  return {
    pendingRefundReviewNotification: {
      version: '1.0',
      pendingRefundToken: review.id,
      orderId: order.id,
      refundReason: chargebackReason,
      ...(applicationUsername !== undefined && { obfuscatedAccountId: toObfuscatedAccountId(applicationUsername) }),
    },
  };
}

const Text = v.pipe(v.string(), v.minLength(1));
const UsageEvent = v.looseObject({
  consumptionTime: v.exactOptional(v.pipe(v.string(), v.isoTimestamp())),
  ipAddress: v.exactOptional(v.string()),
  location: v.exactOptional(v.looseObject({ regionCode: Text })),
  consumptionItemDescription: v.exactOptional(v.pipe(v.string(), v.maxLength(5000))),
});

/** @see https://developers.google.com/android-publisher/api-ref/rest/v3/orders/reviewrefund */
const ReviewBody = v.looseObject({
  pendingRefundToken: Text,
  sampleContentProvided: v.boolean(),
  refundPreference: v.picklist(['APPROVE', 'DECLINE', 'NEUTRAL']),
  consumptionPercentageMilliunits: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100_000))),
  consumptionUsageEvents: v.exactOptional(v.pipe(v.array(UsageEvent), v.maxLength(1000))),
});

/** Decides a review and saves the result. */
export type DecideReview = (review: RefundRequest, at: number) => void;

/** `POST orders/{orderId}:reviewrefund`: takes the first suggestion. Ignores later ones without an error. */
export function reviewRefund(
  {
    state,
    now,
    decideReview,
  }: { readonly state: StoreState; readonly now: () => number; readonly decideReview: DecideReview },
  orderId: string,
  call: StoreHttpRequest,
): HttpResponse {
  if (findOrder(state, orderId) === undefined) throw apiError(404, 'orderNotFound', 'The order was not found.');
  const body = parseReview(call);
  const review = state.refundRequests.get(body.pendingRefundToken);
  if (review?.transactionId !== orderId) throw apiError(400, 'invalid', 'Invalid Value: pendingRefundToken');
  const answered = withAnswer(review, { at: now(), body });
  state.refundRequests.set(review.id, answered);
  if (answered.answer && !answered.decision) decideReview(answered, now());
  return jsonResponse(200, {});
}

function parseReview(call: StoreHttpRequest): v.InferOutput<typeof ReviewBody> {
  try {
    return parseBody(ReviewBody, call);
  } catch (error) {
    throw apiError(400, 'invalid', error instanceof Error ? error.message : 'Invalid Value');
  }
}

const isRefunded = (order: Order | undefined): boolean => order === undefined || !isPaid(order.state);

/** Closes the reviews whose order was refunded by an action of the store. */
export function closeRefundedReviews({ refundRequests }: StoreState, { id, orders }: Purchase, at: number): void {
  for (const review of refundRequests.values()) {
    if (review.purchaseId !== id || review.decision !== undefined) continue;
    if (isRefunded(orders.find((order) => order.id === review.transactionId)))
      refundRequests.set(review.id, { ...review, decision: { at, outcome: 'approved' } });
  }
}

/**
 * Decides a review like its suggestion, and against the refund without one. Google does not report a declined refund.
 */
export function applyDecision(state: StoreState, review: RefundRequest, at: number): Transition | undefined {
  const match = findOrder(state, review.transactionId);
  const isApproved = review.answer?.body.refundPreference === 'APPROVE' || isRefunded(match?.order);
  const decision = { at, outcome: isApproved ? ('approved' as const) : ('declined' as const) };
  state.refundRequests.set(review.id, { ...review, decision });
  return isApproved && match && !isRefunded(match.order) ? chargeBack(match.purchase, match.order, at) : undefined;
}

/** Voids a paid order. The chargeback of the latest order ends a running purchase. */
function chargeBack(purchase: Purchase, order: Order, at: number): Transition {
  const isSubscription = purchase.subscription !== undefined;
  const hasEnded = purchase.isCancelled || purchase.subscription?.state === 'EXPIRED';
  if (!hasEnded && selectOrder(purchase).id === order.id) {
    const { voided, ...transition } = revoke(purchase, at);
    return { ...transition, ...(voided && { voided: { ...voided, isChargeback: true } }) };
  }
  const voided: VoidedOrder = {
    token: purchase.id,
    orderId: order.id,
    purchasedAt: purchase.purchasedAt,
    voidedAt: at,
    isSubscription,
    isChargeback: true,
  };
  return {
    purchase: withOrder(purchase, order.id, { state: 'REFUNDED', changedAt: at }),
    notifications: [buildVoidedNotification(voided)],
    voided,
  };
}
