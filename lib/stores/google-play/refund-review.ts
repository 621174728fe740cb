import { ServiceError } from '../../foundation/errors.ts';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { platformTokens, withPlatform } from '../../foundation/platform.ts';
import { dayMs } from '../../foundation/time.ts';
import type { RefundAnswer, StoreRefundOutcome, StoreRefundRequest } from '../refund-request.ts';
import type { StoreNotification } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import type { NotificationPayload } from './parse-notification.ts';
import { connectPlay, type PlayApi } from './play-api.ts';

/**
 * Time for the suggestion, from the notification on.
 * @see https://developer.android.com/google/play/billing/provide-refund-and-chargeback-suggestions
 */
const replyTimeMs = dayMs;

/** Names of `refundReason`. Reviews support chargebacks only. */
const reasons: Readonly<Record<number, string>> = { 7: 'CHARGEBACK' };

/**
 * Converts a `pendingRefundReviewNotification`. It lacks a purchase token: the order leads to the purchase. Throws
 * `ConnectionFailed` if Google Play is unavailable.
 */
export async function toRefundRequest(
  { occurredAt }: Pick<StoreNotification, 'occurredAt'>,
  { token, orderId, reason }: NonNullable<NotificationPayload['refundReview']>,
  play: PlayApi,
): Promise<StoreRefundRequest> {
  const platform = platformTokens.googlePlay;
  const order = await play.fetchOrder(orderId).catch(ignoreMissingPermission);
  const productId = order?.lineItems?.[0]?.productId;
  return {
    platform,
    // Without the order, the request is still listed by its payment.
    purchaseId: withPlatform(platform, order?.purchaseToken ?? orderId),
    transactionId: withPlatform(platform, orderId),
    ...omitUndefined({ productId: productId && withPlatform(platform, productId) }),
    sandbox: false,
    reason: reason === undefined ? 'UNKNOWN' : (reasons[reason] ?? String(reason)),
    requestedAt: occurredAt,
    deadline: occurredAt + replyTimeMs,
    reference: { token, orderId },
  };
}

/** The statement does not require the permission for orders. */
function ignoreMissingPermission(error: unknown): undefined {
  if (!(error instanceof ServiceError) || error.code !== 'InternalError') throw error;
}

/** Returns the refund of a voided order. Undefined for other notifications. */
export const toRefundOutcome = ({ voidedOrderId, isPartial }: NotificationPayload): StoreRefundOutcome | undefined =>
  voidedOrderId === undefined || isPartial
    ? undefined
    : { transactionId: withPlatform(platformTokens.googlePlay, voidedOrderId), outcome: 'refunded' };

const preferences = { approve: 'APPROVE', decline: 'DECLINE', neutral: 'NEUTRAL' } as const;

/**
 * Sends the suggestion. Throws `InvalidPayload` if Google rejects it.
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/orders/reviewrefund
 */
export async function answerRefundRequest(
  { reference: { token = '', orderId = '' } }: StoreRefundRequest,
  { preference, sampleContentProvided, consumptionPercentage }: RefundAnswer,
  context: StoreContext,
): Promise<void> {
  const result = await connectPlay(context).send(`/orders/${encodeURIComponent(orderId)}:reviewrefund`, {
    pendingRefundToken: token,
    refundPreference: preferences[preference],
    sampleContentProvided,
    ...omitUndefined({ consumptionPercentageMilliunits: consumptionPercentage }),
  });
  if (result.kind === 'accepted') return;
  throw new ServiceError('InvalidPayload', `Google Play rejected the statement about the refund: ${result.detail}`);
}
