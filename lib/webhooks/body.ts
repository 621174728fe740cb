import { Webhook } from 'standardwebhooks';
import { inTongue, type Tongue } from '../http/vocabulary.ts';
import { collectionOf } from '../purchases/collection.ts';
import type { Millis, Purchase } from '../purchases/purchase.ts';
import { isoSeconds } from '../purchases/records.ts';
import type { Delivery, WebhookNotification } from './delivery.ts';

interface Content {
  /** The secret key of the application, unless it has switched the field off. */
  readonly password?: string;
  /** What the user owns now. */
  readonly purchases: readonly Purchase[];
  readonly tongue: Tongue;
  readonly now: Millis;
}

/** The body of a webhook, with exactly the fields that receivers know; what is absent is left out. */
export function webhookBody(
  { type, notification, username }: Pick<Delivery, 'type' | 'notification' | 'username'>,
  { password, purchases, tongue, now }: Content,
): string {
  const opening = { type, ...(password !== undefined && { password }) };
  if (type === 'test') return JSON.stringify(opening);
  const body = {
    notification: notificationRecord(notification),
    applicationUsername: username,
    purchases: collectionOf(purchases, now),
  };
  return JSON.stringify({ ...opening, ...inTongue(body, tongue) });
}

const notificationRecord = ({ reason, id, date, ...concerned }: WebhookNotification) => ({
  reason,
  id,
  date: isoSeconds(date),
  ...concerned,
});

/** The headers of Standard Webhooks, by which the receiver knows the sender, the time and the repetition. */
export function webhookHeaders(
  { deliveryId, body }: { readonly deliveryId: string; readonly body: string },
  { secret, now }: { readonly secret: string; readonly now: Millis },
): Record<string, string> {
  const sentAt = new Date(now);
  return {
    'content-type': 'application/json',
    'user-agent': 'claimcheck',
    'webhook-id': deliveryId,
    'webhook-timestamp': String(Math.floor(now / 1000)),
    'webhook-signature': new Webhook(secret).sign(deliveryId, sentAt, body),
  };
}
