import { Webhook } from 'standardwebhooks';
import type { Purchase } from '../purchases/purchase.ts';
import { toPurchaseCollection } from '../purchases/purchase-collection.ts';
import { toIsoSeconds } from '../purchases/to-records.ts';
import type { EpochMillis } from '../shared/time.ts';
import { applyVocabulary, type Vocabulary } from '../shared/vocabulary.ts';
import type { WebhookDelivery, WebhookNotification } from './delivery.ts';

interface WebhookContent {
  /** The secret key of the application, unless it has switched the field off. */
  readonly password?: string;
  /** What the user owns now. */
  readonly purchases: readonly Purchase[];
  readonly tongue: Vocabulary;
  readonly now: EpochMillis;
}

/** The body of a webhook, with exactly the fields that receivers know; what is absent is left out. */
export function buildWebhookBody(
  { type, notification, username }: Pick<WebhookDelivery, 'type' | 'notification' | 'username'>,
  { password, purchases, tongue: vocabulary, now }: WebhookContent,
): string {
  const envelope = { type, ...(password !== undefined && { password }) };
  if (type === 'test') return JSON.stringify(envelope);
  const body = {
    notification: toNotificationPayload(notification),
    applicationUsername: username,
    purchases: toPurchaseCollection(purchases, now),
  };
  return JSON.stringify({ ...envelope, ...applyVocabulary(body, vocabulary) });
}

const toNotificationPayload = ({ reason, id, date, ...concerned }: WebhookNotification) => ({
  reason,
  id,
  date: toIsoSeconds(date),
  ...concerned,
});

/** The headers of Standard Webhooks, by which the receiver knows the sender, the time and the repetition. */
export function buildWebhookHeaders(
  { deliveryId, body }: { readonly deliveryId: string; readonly body: string },
  { secret, now }: { readonly secret: string; readonly now: EpochMillis },
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
