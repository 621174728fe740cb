import type { WebhookSender } from '../apps/app.ts';
import { hasEntitlements, listEntitlements } from '../apps/catalogue.ts';
import { findCachedCatalogue } from '../apps/catalogue-table.ts';
import { findAccount } from '../credits/credit-table.ts';
import { toCreditTotals } from '../credits/to-records.ts';
import { computeEntitlements } from '../entitlements/entitlements.ts';
import type { ExternalCall } from '../events/event.ts';
import { createEventRecorder } from '../events/event-recorder.ts';
import { recordWorkerEvent } from '../events/record-worker-event.ts';
import { ServiceError } from '../foundation/errors.ts';
import { toAttemptEventId } from '../foundation/event-id.ts';
import type { PostOutcome } from '../foundation/outgoing/post-webhook.ts';
import { getWallTime } from '../foundation/override-date.ts';
import { createRedactor } from '../foundation/redaction/redact-text.ts';
import type { Service } from '../foundation/service.ts';
import { type EpochMillis, toIso } from '../foundation/time.ts';
import type { Purchase } from '../purchases/purchase.ts';
import type { WebhookDelivery } from './delivery.ts';
import { describeFailure } from './delivery-transitions.ts';
import { toDisplayUrl } from './display-url.ts';
import { readGrants, readPurchases } from './shared-reads.ts';
import {
  buildWebhookBody,
  buildWebhookHeaders,
  type ChangedEntitlements,
  listSecrets,
  type WebhookContent,
} from './webhook-request.ts';

/** A webhook request with its response. */
export interface DeliveryAttempt {
  readonly outcome: PostOutcome;
  readonly startedAt: EpochMillis;
}

/** Sends the webhook once, with the customer's current purchases, and records an event. */
export async function attemptDelivery(
  service: Service,
  delivery: WebhookDelivery,
  sender: WebhookSender,
): Promise<DeliveryAttempt> {
  const { secretKey } = sender;
  const { url } = delivery;
  const secrets = listSecrets(sender);
  if (secrets.length === 0) throw new ServiceError('InternalError', 'The webhook signing secret is missing.');
  const body = buildWebhookBody(delivery, await readContent(service, delivery, sender));
  const startedAt = service.now();
  const headers = buildWebhookHeaders({ ...delivery, body }, { secrets, sentAt: getWallTime() });
  const outcome = await service.postWebhook({ url, headers, body });
  const redact = createRedactor([secretKey, ...secrets, ...secrets.map((secret) => secret.replace(/^whsec_/, ''))]);
  const call = toExternalCall(url, outcome, { startedAt, endedAt: service.now() });
  const bodyExcerpt = 'status' in outcome ? redact(outcome.bodyExcerpt) : '';
  await recordAttemptEvent(service, delivery, {
    outcome,
    call,
    bodyExcerpt,
    sent: { headers, body: JSON.parse(body) },
  });
  return { outcome, startedAt };
}

/** Reads what the body contains besides the delivery: purchases and entitlements of the customer, or the credits. */
async function readContent(
  service: Service,
  delivery: WebhookDelivery,
  sender: WebhookSender,
): Promise<WebhookContent> {
  const { appName, username, refundRequest, storeRequest, creditEntry } = delivery;
  const { webhookSettings, vocabulary } = sender.app;
  const password = webhookSettings?.includesPassword ? { password: sender.secretKey } : {};
  const content = { ...password, vocabulary, purchases: [], now: service.now() };
  if (refundRequest || storeRequest || username === undefined) return content;
  if (creditEntry) {
    const account = await findAccount(service, appName, { ...creditEntry, username });
    return { ...content, credits: toCreditTotals(account, content.now) };
  }
  const purchases = await readPurchases(service, appName, username);
  const entitlements = await readChangedEntitlements(delivery, { sender, purchases, username, service });
  return { ...content, purchases, ...(entitlements && { entitlements }) };
}

interface Recipient {
  readonly sender: WebhookSender;
  readonly purchases: readonly Purchase[];
  readonly username: string;
  readonly service: Service;
}

/** Reads the entitlements of the recipient. Undefined for an app without entitlements. */
async function readChangedEntitlements(
  { appName, notification, previousProductId, entitlement, changedEntitlements = [] }: WebhookDelivery,
  { sender, purchases, username, service }: Recipient,
): Promise<ChangedEntitlements | undefined> {
  const catalogue = await findCachedCatalogue(service, appName);
  const named = entitlement === undefined ? changedEntitlements : [entitlement, ...changedEntitlements];
  if (!hasEntitlements(catalogue) && named.length === 0) return undefined;
  const grants = await readGrants(service, appName, username);
  const products = [notification.productId, previousProductId].filter((productId) => productId !== undefined);
  const changed = new Set([...named, ...products.flatMap((productId) => listEntitlements(catalogue, productId))]);
  return {
    all: computeEntitlements(
      { username, purchases, grants, catalogue, sandboxRule: sender.app.sandboxRule },
      service.now(),
    ),
    changed: [...changed].sort(),
  };
}

interface AttemptResult {
  readonly outcome: PostOutcome;
  readonly call: ExternalCall;
  /** Start of the response body, with secrets redacted. */
  readonly bodyExcerpt: string;
  readonly sent: { readonly headers: object; readonly body: unknown };
}

/** Records the event with the notification id as its request id, so the event search finds it by that id. */
async function recordAttemptEvent(
  service: Service,
  delivery: WebhookDelivery,
  { outcome, call, bodyExcerpt, sent }: AttemptResult,
): Promise<void> {
  const { appName, deliveryId, type, username, notification, failedAttempts } = delivery;
  const { id, reason, productId, purchaseId, transactionId } = notification;
  const date = toIso(notification.date);
  const { startedAt } = call.timing;
  const eventId = toAttemptEventId(deliveryId, startedAt);
  const recorder = createEventRecorder({ type: 'webhook.app.called', date: startedAt, reqId: id, eventId });
  if (username !== undefined) recorder.setUser(username);
  if (purchaseId !== undefined) recorder.addTag(purchaseId, '_P');
  const purchase = { ...(productId && { productId }), ...(purchaseId && { purchaseId }) };
  recorder.addContent({
    notifications: [{ id, type, reason, date, ...purchase, ...(transactionId && { transactionId }) }],
    ...(purchaseId && { purchases: [purchase] }),
  });
  recorder.addExternalCall(call);
  const problem = describeFailure(outcome);
  const failure = problem === undefined ? undefined : new ServiceError('ConnectionFailed', problem);
  const response = 'status' in outcome ? { status: outcome.status, message: bodyExcerpt } : {};
  const request = {
    route: 'webhook',
    params: { type, attempt: failedAttempts + 1, ...(purchaseId && { purchaseId }) },
    ...sent,
  };
  await recordWorkerEvent(service, appName, {
    recorder,
    request,
    response,
    causeId: delivery.eventId,
    ...(failure && { failure }),
  });
}

/** Returns the record of a request to a server of the app. */
export function toExternalCall(url: string, outcome: PostOutcome, timing: ExternalCall['timing']): ExternalCall {
  const host = URL.canParse(url) ? new URL(url).host : '';
  const call = { type: host, url: toDisplayUrl(url), method: 'POST', timing };
  return 'status' in outcome
    ? { ...call, response: { status: outcome.status, size: outcome.bodyExcerpt.length } }
    : { ...call, error: { message: outcome.message } };
}
