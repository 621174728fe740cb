import type { App } from '../apps/app.ts';
import type { PurchaseRepository } from '../purchases/purchase-repository.ts';
import type { MessageQueue } from '../shared/message-queue.ts';
import type { EpochMillis } from '../shared/time.ts';
import { buildDelivery, type WebhookDelivery } from './delivery.ts';
import type { DeliveryRepository } from './delivery-repository.ts';
import { markDead, resetForReplay } from './delivery-transitions.ts';
import { enqueueDeliveries } from './fan-out.ts';
import { selectWebhookUrls } from './select-webhook-urls.ts';
import type { WebhookMessage } from './webhook-message.ts';

/** Returns the URLs that the app's current settings select for the delivery; for a test, all URLs. */
export async function getCurrentUrls(
  { type, notification, storeRequest }: WebhookDelivery,
  app: App,
  { purchases }: { readonly purchases: PurchaseRepository },
): Promise<readonly string[]> {
  const { urls = [], sandboxUrls = [] } = app.webhookSettings ?? {};
  if (type === 'test') return [...urls, ...sandboxUrls];
  if (storeRequest) return selectWebhookUrls(app, storeRequest.isSandbox);
  const { purchaseId } = notification;
  if (sandboxUrls.length === 0 || purchaseId === undefined) return selectWebhookUrls(app, false);
  const stored = await purchases.find(app.name, purchaseId);
  return selectWebhookUrls(app, stored?.purchase.sandbox);
}

/**
 * Replaces a delivery for a removed URL by deliveries for the current URLs, with the full number of attempts. A URL
 * that already has a delivery of the notification gets no second one. Returns the delivery in its final state.
 */
export async function redirectDelivery(
  delivery: WebhookDelivery,
  urls: readonly string[],
  deps: {
    readonly deliveries: DeliveryRepository;
    now(): EpochMillis;
    readonly webhookQueue: MessageQueue<WebhookMessage>;
  },
): Promise<WebhookDelivery> {
  const { appName, type, username, notification, refundRequest, storeRequest } = delivery;
  const deadDelivery = markDead(delivery, 'The app replaced the webhook URL.');
  // A test webhook tests one URL.
  if (type === 'test') return deadDelivery;
  const replacements = urls.map((url) =>
    buildDelivery({
      appName,
      type,
      url,
      ...(username !== undefined && { username }),
      notification,
      ...(refundRequest && { refundRequest }),
      ...(storeRequest && { storeRequest }),
      createdAt: deps.now(),
    }),
  );
  for (const replacement of replacements) await createOrRestart(replacement, deps);
  await enqueueDeliveries(replacements, deps);
  return replacements.length > 0
    ? { ...deadDelivery, state: 'redirected' }
    : markDead(delivery, 'The app removed the webhook URL.');
}

/** Creates the delivery. Restarts an existing one whose URL was removed and is now set again. */
async function createOrRestart(
  delivery: WebhookDelivery,
  { deliveries, now }: { readonly deliveries: DeliveryRepository; now(): EpochMillis },
): Promise<void> {
  if (await deliveries.createIfAbsent(delivery)) return;
  const existing = await deliveries.find(delivery.appName, delivery.deliveryId);
  if (existing?.state === 'redirected')
    await deliveries.replaceIfUnchanged(existing, resetForReplay(existing, now()), now());
}
