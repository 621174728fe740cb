import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { ServiceError } from '../../shared/errors.ts';
import { omitUndefined } from '../../shared/omit-undefined.ts';
import { parse, parseJson } from '../../shared/parse.ts';
import type { StoreNotification } from '../store.ts';
import { isPlayId } from './play-api.ts';

const Text = v.exactOptional(v.string());
const PlayId = v.pipe(v.string(), v.check(isPlayId, 'a token or id of Google Play'));
const Count = v.exactOptional(v.number());
const Moment = v.pipe(v.union([v.number(), v.pipe(v.string(), v.digits())]), v.transform(Number));

const Envelope = v.looseObject({ message: v.looseObject({ data: v.string(), messageId: Text, message_id: Text }) });

const DeveloperNotification = v.looseObject({
  eventTimeMillis: Moment,
  subscriptionNotification: v.exactOptional(v.looseObject({ notificationType: v.number(), purchaseToken: PlayId })),
  oneTimeProductNotification: v.exactOptional(
    v.looseObject({ notificationType: v.number(), purchaseToken: PlayId, sku: Text }),
  ),
  voidedPurchaseNotification: v.exactOptional(
    v.looseObject({ purchaseToken: PlayId, orderId: PlayId, productType: Count, refundType: Count }),
  ),
  testNotification: v.exactOptional(v.looseObject({})),
});
type DeveloperNotification = v.InferOutput<typeof DeveloperNotification>;

/** What a message is about; a test and what is not known yet are about no purchase. */
export const NotificationPayload = v.object({
  token: v.exactOptional(PlayId),
  kind: v.exactOptional(v.picklist(['subscription', 'product'])),
  productId: Text,
  /** The order whose money was given back. */
  voidedOrderId: v.exactOptional(PlayId),
  /** Whether only some of its quantity was. */
  isPartial: v.exactOptional(v.boolean()),
  voidedReason: Count,
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
const productKinds: Readonly<Record<number, 'subscription' | 'product'>> = { 1: 'subscription', 2: 'product' };
const oneTimeTypes: Readonly<Record<number, string>> = { 1: 'PURCHASED', 2: 'CANCELED' };

/**
 * The message of a push of Pub/Sub whose sender has been verified. Throws `Forbidden` for another application's and
 * `InvalidPayload` for what is not understood.
 */
export function parseNotification(body: string, packageName: string): StoreNotification {
  const { message } = parseJson(Envelope, body);
  const text = Buffer.from(message.data, 'base64').toString('utf8');
  const origin = parseJson(v.looseObject({ packageName: v.string() }), text);
  if (origin.packageName !== packageName) {
    throw new ServiceError('Forbidden', 'The notification is for another application.');
  }
  const notification = parse(DeveloperNotification, origin);
  const messageId = message.messageId ?? message.message_id;
  const key = messageId === undefined ? hashParts(message.data) : `message ${messageId}`;
  return (
    toPurchaseNotification(notification) ?? {
      ...toOtherNotification(notification),
      key,
      occurredAt: notification.eventTimeMillis,
    }
  );
}

/** A message about a purchase; undefined for one about none. */
function toPurchaseNotification(notification: DeveloperNotification): StoreNotification | undefined {
  const {
    eventTimeMillis: at,
    subscriptionNotification: subscription,
    oneTimeProductNotification: oneTime,
    voidedPurchaseNotification: voided,
  } = notification;
  if (subscription) {
    const { notificationType: number, purchaseToken: token } = subscription;
    const type = `SUBSCRIPTION_${subscriptionTypes[number] ?? number}`;
    return { key: hashParts(token, type, at), type, occurredAt: at, payload: { token, kind: 'subscription' } };
  }
  if (oneTime) {
    const { notificationType: number, purchaseToken: token, sku: productId } = oneTime;
    const type = `ONE_TIME_PRODUCT_${oneTimeTypes[number] ?? number}`;
    return {
      key: hashParts(token, type, at),
      type,
      occurredAt: at,
      payload: { token, kind: 'product', ...omitUndefined({ productId }) },
    };
  }
  if (!voided) return undefined;
  const { purchaseToken: token, orderId, productType, refundType } = voided;
  const kind = productType === undefined ? undefined : productKinds[productType];
  return toVoidedNotification({ token, orderId, at, isPartial: refundType === 2, ...omitUndefined({ kind }) });
}

interface VoidedOrder {
  readonly token: string;
  readonly orderId: string;
  readonly at: number;
  readonly isPartial: boolean;
  readonly kind?: 'subscription' | 'product';
  readonly voidedReason?: number;
}

/**
 * A message of money given back, whichever way it was learned. An order is given back once, so pushes and the list of
 * voided purchases share its key; of parts of it there may be several.
 */
export function toVoidedNotification({ token, orderId, at, isPartial, ...known }: VoidedOrder): StoreNotification {
  const key = isPartial ? hashParts(token, orderId, 'part', at) : hashParts(token, orderId, 'voided');
  return {
    key,
    type: 'VOIDED_PURCHASE',
    occurredAt: at,
    payload: { token, voidedOrderId: orderId, isPartial, ...known },
  };
}

const toOtherNotification = ({ testNotification }: DeveloperNotification) => ({
  type: testNotification ? 'TEST' : 'UNKNOWN',
  payload: {},
});

/** The same for an event that Google published again under another message id. */
const hashParts = (...parts: readonly (string | number)[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex');
