import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { NotificationReason } from '../purchases/lifecycle-reasons.ts';
import { dayMs } from '../shared/time.ts';

/** What a webhook tells of, as the body names it; dates are epoch milliseconds. */
export const WebhookNotification = v.object({
  id: v.string(),
  reason: NotificationReason,
  date: v.number(),
  productId: v.exactOptional(v.string()),
  purchaseId: v.exactOptional(v.string()),
  transactionId: v.exactOptional(v.string()),
});
export type WebhookNotification = v.InferOutput<typeof WebhookNotification>;

/** One webhook on its way to one URL: to be sent until it is delivered or dead. */
export const WebhookDelivery = v.object({
  appName: v.string(),
  /** Also the `webhook-id`, the same for every attempt. */
  deliveryId: v.string(),
  type: v.picklist(['purchases.updated', 'test']),
  url: v.string(),
  username: v.exactOptional(v.string()),
  notification: WebhookNotification,
  /** `redirected` once its URL was given up: others were made, for the URLs that took its place. */
  state: v.picklist(['pending', 'delivered', 'dead', 'redirected']),
  /** Attempts that have failed. */
  failedAttempts: v.number(),
  createdAt: v.number(),
  /** Not to be sent before; absent when it can be sent at once. */
  nextAttemptAt: v.exactOptional(v.number()),
  /** When the sweep looks after it. */
  dueAt: v.exactOptional(v.number()),
  /** What the application's server answered last. */
  lastHttpStatus: v.exactOptional(v.number()),
  /** Why the last attempt failed, or why there will be none. */
  failureReason: v.exactOptional(v.string()),
});
export type WebhookDelivery = v.InferOutput<typeof WebhookDelivery>;

/** Retention after the last attempt. Longer than all attempts take, so that an operator can still list dead deliveries. */
export const deliveryRetentionMs = 30 * dayMs;

type DeliveryInput = Pick<WebhookDelivery, 'appName' | 'type' | 'url' | 'username' | 'notification' | 'createdAt'>;

/** The delivery of a notification to a user's URL; its id is the same however often it is made. */
export function buildDelivery(delivery: DeliveryInput): WebhookDelivery {
  const { notification, username = '', url } = delivery;
  const name = JSON.stringify([notification.id, username, url]);
  const deliveryId = createHash('sha256').update(name).digest('hex').slice(0, 32);
  return { ...delivery, deliveryId, state: 'pending', failedAttempts: 0 };
}
