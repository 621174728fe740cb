import { Webhook } from 'standardwebhooks';
import type { CreditTotalsByName } from '../api/credit-totals.ts';
import type { WebhookSender } from '../apps/app.ts';
import { type Entitlements, toEntitlementRecords } from '../entitlements/entitlements.ts';
import { type EpochMillis, secondMs, toIso, toIsoSeconds } from '../foundation/time.ts';
import { applyVocabulary, type Vocabulary } from '../foundation/vocabulary.ts';
import { isUnpaid, type Purchase } from '../purchases/purchase.ts';
import { toPurchaseCollection } from '../purchases/purchase-collection.ts';
import type { WebhookDelivery, WebhookNotification } from './delivery.ts';

/** The entitlements of the recipient, and the names of those that the cause of the webhook can have changed. */
export interface ChangedEntitlements {
  readonly all: Entitlements;
  readonly changed: readonly string[];
}

/** What a body contains besides the delivery. */
export interface WebhookContent {
  /** The app's secret key. Absent if the app's settings exclude it. */
  readonly password?: string;
  /** The purchases that decide the customer's purchase collection. */
  readonly purchases: readonly Purchase[];
  readonly vocabulary: Vocabulary;
  /** All entitlements of the customer. Absent for an app without entitlements. */
  readonly entitlements?: ChangedEntitlements;
  /** The credits of the customer, for a webhook about them. */
  readonly credits?: CreditTotalsByName;
  readonly now: EpochMillis;
}

type Subject = Pick<
  WebhookDelivery,
  'type' | 'notification' | 'username' | 'refundRequest' | 'storeRequest' | 'creditEntry'
>;

/** Builds the JSON body: the fields of the specification, or of an addition by its type. */
export function buildWebhookBody(delivery: Subject, content: WebhookContent): string {
  const { password, vocabulary } = content;
  const envelope = { type: delivery.type, ...(password !== undefined && { password }) };
  if (delivery.type === 'test') return JSON.stringify(envelope);
  return JSON.stringify({ ...envelope, ...applyVocabulary(toBody(delivery, content), vocabulary) });
}

function toBody(delivery: Subject, content: WebhookContent): object {
  const { refundRequest, storeRequest, creditEntry, notification, username: applicationUsername } = delivery;
  if (refundRequest) return { refundRequest: toRefundPayload(refundRequest, notification), applicationUsername };
  if (storeRequest) return { storeRequest: toStorePayload(storeRequest, notification), applicationUsername };
  if (creditEntry) {
    const { isSandbox, ...entry } = creditEntry;
    return { creditEntry: entry, isSandbox, credits: content.credits, applicationUsername };
  }
  return {
    notification: toNotificationPayload(notification),
    applicationUsername,
    ...toPurchasesPayload(content),
  };
}

const toRefundPayload = (
  { deadline, ...request }: NonNullable<WebhookDelivery['refundRequest']>,
  { date, purchaseId, transactionId }: WebhookNotification,
) => ({
  ...request,
  purchaseId,
  transactionId,
  requestedAt: toIso(date),
  deadline: toIso(deadline),
});

const toStorePayload = (
  { type: _type, ...details }: NonNullable<WebhookDelivery['storeRequest']>,
  { date }: WebhookNotification,
) => ({ ...details, date: toIso(date) });

const toPurchasesPayload = ({ purchases, entitlements, now }: WebhookContent) => ({
  // Servers grant each purchase of the list, so it leaves out unpaid ones.
  purchases: toPurchaseCollection(
    purchases.filter((purchase) => !isUnpaid(purchase)),
    now,
  ),
  ...(entitlements && {
    entitlements: toEntitlementRecords(entitlements.all),
    entitlementsChanged: [...entitlements.changed],
  }),
});

const toNotificationPayload = ({ reason, id, date, ...purchaseIds }: WebhookNotification) => ({
  reason,
  id,
  date: toIsoSeconds(date),
  ...purchaseIds,
});

/** Lists the signing secrets that are valid, the current one first. */
export const listSecrets = ({ signingSecret, formerSecret }: WebhookSender): string[] =>
  [signingSecret, formerSecret].filter((secret) => secret !== undefined);

/**
 * Builds the headers of Standard Webhooks: a signature by each secret, the time and the id for detecting repetitions.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function buildWebhookHeaders(
  { deliveryId, body, eventId }: Pick<WebhookDelivery, 'deliveryId' | 'eventId'> & { readonly body: string },
  { secrets, sentAt }: { readonly secrets: readonly string[]; readonly sentAt: EpochMillis },
): Record<string, string> {
  return {
    'content-type': 'application/json',
    'user-agent': 'claimcheck',
    ...(eventId !== undefined && { 'x-request-id': eventId }),
    'webhook-id': deliveryId,
    'webhook-timestamp': String(Math.floor(sentAt / secondMs)),
    'webhook-signature': secrets
      .map((secret) => new Webhook(secret).sign(deliveryId, new Date(sentAt), body))
      .join(' '),
  };
}
