import type { App } from '../apps/app.ts';
import type { Deps } from '../deps.ts';
import { buildDelivery, type WebhookDelivery } from './delivery.ts';
import { markDead, resetForReplay } from './delivery-transitions.ts';
import { enqueueDeliveries, selectWebhookUrls } from './fan-out.ts';

/** The URLs that the application has now for such a delivery. A test is of any. */
export async function getCurrentUrls(
  { type, notification }: WebhookDelivery,
  app: App,
  deps: Deps,
): Promise<readonly string[]> {
  const { urls = [], sandboxUrls = [] } = app.webhookSettings ?? {};
  if (type === 'test') return [...urls, ...sandboxUrls];
  const { purchaseId } = notification;
  if (sandboxUrls.length === 0 || purchaseId === undefined) return selectWebhookUrls(app, false);
  const found = await deps.purchases.find(app.name, purchaseId);
  return selectWebhookUrls(app, found?.purchase.sandbox);
}

/**
 * Sends what was meant for a URL that the application has given up to those that it has now, each with all attempts before
 * it; a URL that has been told of the notification already is not told again. Returns what becomes of the delivery.
 */
export async function redirectDelivery(
  delivery: WebhookDelivery,
  urls: readonly string[],
  deps: Deps,
): Promise<WebhookDelivery> {
  const { appName, type, username, notification } = delivery;
  const deadDelivery = markDead(delivery, 'The application has another URL now.');
  // A test was of that URL.
  if (type === 'test') return deadDelivery;
  const redirected = urls.map((url) =>
    buildDelivery({
      appName,
      type,
      url,
      ...(username !== undefined && { username }),
      notification,
      createdAt: deps.now(),
    }),
  );
  for (const one of redirected) await createOrRestart(one, deps);
  await enqueueDeliveries(redirected, deps);
  return redirected.length > 0
    ? { ...deadDelivery, state: 'redirected' }
    : markDead(delivery, 'The application has no URL any more.');
}

/** Makes the delivery; one that was moved away from its URL and comes back to it begins anew. */
async function createOrRestart(delivery: WebhookDelivery, { deliveries, now }: Deps): Promise<void> {
  if (await deliveries.createIfAbsent(delivery)) return;
  const present = await deliveries.find(delivery.appName, delivery.deliveryId);
  if (present?.state === 'redirected')
    await deliveries.replaceIfUnchanged(present, resetForReplay(present, now()), now());
}
