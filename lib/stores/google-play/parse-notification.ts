import * as v from 'valibot';
import { hashParts } from '../../foundation/key.ts';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { parse, parseJson } from '../../foundation/parse.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { StoreNotification } from '../store.ts';
import { lenient } from './payloads.ts';
import { isPlayId } from './play-api.ts';

const Text = v.exactOptional(v.string());
const PlayId = v.pipe(v.string(), v.check(isPlayId, 'a Google Play token or id'));
const OptionalNumber = v.exactOptional(v.number());

/** Members on which the subject of a notification does not depend: an unexpected value counts as absent. */
const [LenientText, LenientNumber] = [lenient(v.string()), lenient(v.number())];
const Timestamp = v.pipe(v.union([v.number(), v.pipe(v.string(), v.digits())]), v.transform(Number));

/** The body of a Pub/Sub push. */
const Envelope = v.looseObject({
  message: v.looseObject({ data: v.string(), messageId: LenientText, message_id: LenientText }),
});

/** The body of a push with payload unwrapping: the notification itself. */
const Unwrapped = v.looseObject({ packageName: v.string(), eventTimeMillis: v.unknown() });

/** @see https://developer.android.com/google/play/billing/rtdn-reference */
const DeveloperNotification = v.looseObject({
  eventTimeMillis: Timestamp,
  subscriptionNotification: v.nullish(v.looseObject({ notificationType: LenientNumber, purchaseToken: PlayId })),
  oneTimeProductNotification: v.nullish(
    v.looseObject({ notificationType: LenientNumber, purchaseToken: PlayId, sku: LenientText }),
  ),
  voidedPurchaseNotification: v.nullish(
    v.looseObject({ purchaseToken: PlayId, orderId: PlayId, productType: LenientNumber, refundType: LenientNumber }),
  ),
  pendingRefundReviewNotification: v.nullish(
    v.looseObject({ pendingRefundToken: v.string(), orderId: PlayId, refundReason: LenientNumber }),
  ),
  testNotification: v.nullish(v.looseObject({})),
});
type DeveloperNotification = v.InferOutput<typeof DeveloperNotification>;

/** The payload of a store notification; without a token for a test and for unknown types. */
export const NotificationPayload = v.object({
  token: v.exactOptional(PlayId),
  kind: v.exactOptional(v.picklist(['subscription', 'product'])),
  productId: Text,
  /** The refunded order. */
  voidedOrderId: v.exactOptional(PlayId),
  /** Only a part of the quantity was refunded. */
  isPartial: v.exactOptional(v.boolean()),
  voidedReason: OptionalNumber,
  voidedSource: OptionalNumber,
  /** The request for a statement about a chargeback. */
  refundReview: v.exactOptional(v.object({ token: v.string(), orderId: PlayId, reason: OptionalNumber })),
});
export type NotificationPayload = v.InferOutput<typeof NotificationPayload>;

const subscriptionTypes: Readonly<Record<number, string>> = {
  1: 'RECOVERED',
  2: 'RENEWED',
  3: 'CANCELED',
  4: 'PURCHASED',
  5: 'ON_HOLD',
  6: 'IN_GRACE_PERIOD',
  7: 'RESTARTED',
  8: 'PRICE_CHANGE_CONFIRMED',
  9: 'DEFERRED',
  10: 'PAUSED',
  11: 'PAUSE_SCHEDULE_CHANGED',
  12: 'REVOKED',
  13: 'EXPIRED',
  17: 'ITEMS_CHANGED',
  18: 'CANCELLATION_SCHEDULED',
  19: 'PRICE_CHANGE_UPDATED',
  20: 'PENDING_PURCHASE_CANCELED',
  22: 'PRICE_STEP_UP_CONSENT_UPDATED',
};
const oneTimeTypes: Readonly<Record<number, string>> = { 1: 'PURCHASED', 2: 'CANCELED' };
const productKinds: Readonly<Record<number, 'subscription' | 'product'>> = { 1: 'subscription', 2: 'product' };

/** `refundType` of a voided purchase. */
const quantityBasedPartialRefund = 2;

/**
 * Parses a Pub/Sub push whose sender has been verified. Returns undefined for another app's notification: apps can
 * share a topic, and Pub/Sub repeats a rejected message for days and slows the others down. Throws `InvalidPayload` for
 * a malformed one.
 * @see https://cloud.google.com/pubsub/docs/push
 */
export function parseNotification(body: string, packageName: string): StoreNotification | undefined {
  const { text, messageId } = unwrap(body);
  const origin = parseJson(v.looseObject({ packageName: v.string() }), text);
  if (origin.packageName !== packageName) return undefined;
  const notification = parse(DeveloperNotification, origin);
  const key = messageId === undefined ? hashParts(text) : `message ${messageId}`;
  const review = toReviewNotification(notification);
  if (review) return review;
  return (
    toPurchaseNotification(notification) ?? {
      ...toOtherNotification(notification),
      key,
      occurredAt: notification.eventTimeMillis,
    }
  );
}

/**
 * Returns the notification and the id of its message. A subscription with payload unwrapping sends the notification
 * without an envelope.
 * @see https://cloud.google.com/pubsub/docs/payload-unwrapping
 */
function unwrap(body: string): { readonly text: string; readonly messageId?: string | undefined } {
  const content = parseJson(v.unknown(), body);
  if (v.is(Unwrapped, content)) return { text: body };
  const { message } = parse(Envelope, content);
  return {
    text: Buffer.from(message.data, 'base64').toString('utf8'),
    messageId: message.messageId ?? message.message_id,
  };
}

/** Returns undefined if the notification does not request a statement about a refund. */
function toReviewNotification({
  eventTimeMillis: occurredAt,
  pendingRefundReviewNotification: review,
}: DeveloperNotification): StoreNotification | undefined {
  if (!review) return undefined;
  const { pendingRefundToken: token, orderId, refundReason: reason } = review;
  return {
    key: hashParts(token, 'review'),
    type: 'PENDING_REFUND_REVIEW',
    occurredAt,
    payload: { refundReview: { token, orderId, ...omitUndefined({ reason }) } },
  };
}

/**
 * Returns undefined if the notification is not about a purchase. Its key comes from the content: Google may publish an
 * event twice, with different message ids.
 */
function toPurchaseNotification(notification: DeveloperNotification): StoreNotification | undefined {
  const {
    eventTimeMillis: occurredAt,
    subscriptionNotification: subscription,
    oneTimeProductNotification: oneTime,
    voidedPurchaseNotification: voided,
  } = notification;
  if (subscription) {
    const { notificationType, purchaseToken: token } = subscription;
    const type = `SUBSCRIPTION_${subscriptionTypes[notificationType ?? 0] ?? notificationType ?? 'UNKNOWN'}`;
    return { key: hashParts(token, type, occurredAt), type, occurredAt, payload: { token, kind: 'subscription' } };
  }
  if (oneTime) {
    const { notificationType, purchaseToken: token, sku: productId } = oneTime;
    const type = `ONE_TIME_PRODUCT_${oneTimeTypes[notificationType ?? 0] ?? notificationType ?? 'UNKNOWN'}`;
    return {
      key: hashParts(token, type, occurredAt),
      type,
      occurredAt,
      payload: { token, kind: 'product', ...omitUndefined({ productId }) },
    };
  }
  if (!voided) return undefined;
  const { purchaseToken: token, orderId, productType, refundType } = voided;
  const kind = productType === undefined ? undefined : productKinds[productType];
  const isPartial = refundType === quantityBasedPartialRefund;
  return toVoidedNotification({ token, orderId, occurredAt, isPartial, ...omitUndefined({ kind }) });
}

interface VoidedOrder {
  readonly token: string;
  readonly orderId: string;
  readonly occurredAt: EpochMillis;
  readonly isPartial: boolean;
  readonly kind?: 'subscription' | 'product';
  readonly voidedReason?: number;
  readonly voidedSource?: number;
}

/**
 * Builds the notification of a voided order. A push and the list of voided purchases give the same key, because an
 * order is voided once. Partial refunds of an order can repeat, so their key includes the time.
 */
export function toVoidedNotification({
  token,
  orderId,
  occurredAt,
  isPartial,
  ...details
}: VoidedOrder): StoreNotification {
  const key = isPartial ? hashParts(token, orderId, 'part', occurredAt) : hashParts(token, orderId, 'voided');
  return {
    key,
    type: 'VOIDED_PURCHASE',
    occurredAt,
    payload: { token, voidedOrderId: orderId, isPartial, ...details },
  };
}

const toOtherNotification = ({ testNotification }: DeveloperNotification) => ({
  type: testNotification ? 'TEST' : 'UNKNOWN',
  payload: {},
});
