import * as v from 'valibot';
import { OptionalNumber, OptionalText } from '../api/schemas.ts';
import { AnnouncedCreditEntry } from '../credits/contract.ts';
import type { EventRecorder } from '../events/event-recorder.ts';
import { toShortDigest } from '../foundation/key.ts';
import { Platform } from '../foundation/platform.ts';
import { dayMs } from '../foundation/time.ts';
import { NotificationReason } from '../purchases/lifecycle-reasons.ts';
import { StoreRequest } from '../stores/store-request-contract.ts';
import { DeliveryType } from './contract.ts';

/** The notification in a webhook body; `date` in epoch milliseconds. */
export const WebhookNotification = v.object({
  id: v.string(),
  reason: NotificationReason,
  date: v.number(),
  productId: OptionalText,
  purchaseId: OptionalText,
  transactionId: OptionalText,
});
export type WebhookNotification = v.InferOutput<typeof WebhookNotification>;

/** A store's request for a statement about a refund; `deadline` in epoch milliseconds. */
const AnnouncedRefundRequest = v.object({
  id: v.string(),
  platform: Platform,
  reason: v.string(),
  deadline: v.number(),
});

/** A store notification to send on as it came. */
const ForwardedMessage = v.object({
  platform: Platform,
  /** Id of the messages that are sent in order. */
  chain: v.string(),
  /** Place in the chain. A replay does not change it. */
  receivedAt: v.number(),
  /** Encrypted. */
  content: v.string(),
});

/** One webhook for one URL; dates in epoch milliseconds. */
export const WebhookDelivery = v.object({
  appName: v.string(),
  /** Sent as `webhook-id`, the same for all attempts. */
  deliveryId: v.string(),
  type: DeliveryType,
  url: v.string(),
  username: OptionalText,
  notification: WebhookNotification,
  /** The event that records the cause of the webhook. */
  eventId: OptionalText,
  /** The product before a change of the plan: its entitlements changed too. */
  previousProductId: OptionalText,
  /** The entitlement of the grant that caused the webhook. */
  entitlement: OptionalText,
  /** The entitlements that the customer has gained or lost by a change of the catalogue. */
  changedEntitlements: v.exactOptional(v.array(v.string())),
  forward: v.exactOptional(ForwardedMessage),
  /** The refund request of a webhook of type `refund.requested`. */
  refundRequest: v.exactOptional(AnnouncedRefundRequest),
  /** The store's request of a webhook of the same type. */
  storeRequest: v.exactOptional(StoreRequest),
  /** The change of credits of a webhook of type `credits.updated`. */
  creditEntry: v.exactOptional(AnnouncedCreditEntry),
  /** `redirected`: the app removed the URL, and deliveries for its new URLs replace this one. */
  state: v.picklist(['pending', 'delivered', 'dead', 'redirected']),
  failedAttempts: v.number(),
  createdAt: v.number(),
  /** Earliest time of the next attempt. Absent if the first attempt is not delayed. */
  nextAttemptAt: OptionalNumber,
  /** Time from which `enqueueDueItems` enqueues the delivery. */
  dueAt: OptionalNumber,
  /** Start of the last attempt. Absent before the first attempt. */
  lastAttemptAt: OptionalNumber,
  /** Status of the app server's last response. */
  lastHttpStatus: OptionalNumber,
  /** Why the last attempt failed, or why it was the last one. */
  failureReason: OptionalText,
});
export type WebhookDelivery = v.InferOutput<typeof WebhookDelivery>;

/**
 * Retention after the last attempt: longer than all attempts take, so dead deliveries can be inspected and replayed.
 */
export const deliveryRetentionMs = 30 * dayMs;

/** A delivery without an attempt: its subject, recipient and URL. */
export type NewDelivery = Omit<
  WebhookDelivery,
  | 'deliveryId'
  | 'state'
  | 'failedAttempts'
  | 'nextAttemptAt'
  | 'dueAt'
  | 'lastAttemptAt'
  | 'lastHttpStatus'
  | 'failureReason'
  | 'forward'
>;

/**
 * Builds a new delivery. The id depends only on the notification, the user and the URL, so a repetition has the same
 * id.
 */
export function buildDelivery(input: NewDelivery): WebhookDelivery {
  const { notification, username = '', url } = input;
  const identity = JSON.stringify([notification.id, username, url]);
  const deliveryId = toShortDigest(identity);
  return { ...input, deliveryId, state: 'pending', failedAttempts: 0 };
}

/** Adds the customer and the notification of a delivery to an event. */
export function describeDelivery(recorder: EventRecorder, { type, username, notification }: WebhookDelivery): void {
  if (username !== undefined) recorder.setUser(username);
  recorder.addContent({ notifications: [{ id: notification.id, type, reason: notification.reason }] });
}
