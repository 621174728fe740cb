import type { App } from '../apps/app.ts';
import type { Service } from '../foundation/service.ts';
import { findPurchase } from '../purchases/purchase-table.ts';
import { buildDelivery, type NewDelivery, type WebhookDelivery } from './delivery.ts';
import { createDeliveryIfAbsent, findDelivery, replaceDelivery } from './delivery-table.ts';
import { markDead, resetForReplay } from './delivery-transitions.ts';
import { enqueueDeliveries } from './fan-out.ts';
import { selectWebhookUrls } from './select-webhook-urls.ts';

/** Returns the URLs that the app's current settings select for the delivery; for a test, all URLs. */
export async function getCurrentUrls(
  service: Service,
  { type, notification, storeRequest, creditEntry }: WebhookDelivery,
  app: App,
): Promise<readonly string[]> {
  const { urls = [], sandboxUrls = [] } = app.webhookSettings ?? {};
  if (type === 'test') return [...urls, ...sandboxUrls];
  const { isSandbox } = storeRequest ?? creditEntry ?? {};
  if (isSandbox !== undefined) return selectWebhookUrls(app, isSandbox);
  const { purchaseId } = notification;
  if (sandboxUrls.length === 0 || purchaseId === undefined) return selectWebhookUrls(app, false);
  const stored = await findPurchase(service, app.name, purchaseId);
  return selectWebhookUrls(app, stored?.purchase.sandbox);
}

/**
 * Replaces a delivery for a removed URL by deliveries for the current URLs, with the full number of attempts. A URL
 * that already has a delivery of the notification gets no second one. Returns the delivery in its final state.
 */
export async function redirectDelivery(
  service: Service,
  delivery: WebhookDelivery,
  urls: readonly string[],
): Promise<WebhookDelivery> {
  const deadDelivery = markDead(delivery, 'The app replaced the webhook URL.');
  // A test webhook tests one URL.
  if (delivery.type === 'test') return deadDelivery;
  const subject = omitAttempts(delivery);
  const replacements = urls.map((url) => buildDelivery({ ...subject, url, createdAt: service.now() }));
  for (const replacement of replacements) await createOrRestart(service, replacement);
  await enqueueDeliveries(service, replacements);
  return replacements.length > 0
    ? { ...deadDelivery, state: 'redirected' }
    : markDead(delivery, 'The app removed the webhook URL.');
}

/** Returns what the new deliveries share with the former one. */
function omitAttempts({
  deliveryId: _deliveryId,
  state: _state,
  failedAttempts: _failedAttempts,
  nextAttemptAt: _nextAttemptAt,
  dueAt: _dueAt,
  lastAttemptAt: _lastAttemptAt,
  lastHttpStatus: _lastHttpStatus,
  failureReason: _failureReason,
  forward: _forward,
  ...subject
}: WebhookDelivery): NewDelivery {
  return subject;
}

/** Creates the delivery. Restarts an existing one whose URL was removed and is now set again. */
async function createOrRestart(service: Service, delivery: WebhookDelivery): Promise<void> {
  if (await createDeliveryIfAbsent(service, delivery)) return;
  const existing = await findDelivery(service, delivery.appName, delivery.deliveryId);
  if (existing?.state === 'redirected')
    await replaceDelivery(service, existing, resetForReplay(existing, service.now()), service.now());
}
