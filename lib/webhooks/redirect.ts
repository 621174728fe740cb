import type { App } from '../apps/app.ts';
import type { Deps } from '../deps.ts';
import { type Delivery, newDelivery } from './delivery.ts';
import { sendOut, urlsFor } from './fan-out.ts';
import { ended, replayed } from './outcome.ts';

/** The URLs that the application has now for such a delivery. A test is of any. */
export async function urlsNow({ type, notification }: Delivery, app: App, deps: Deps): Promise<readonly string[]> {
  const { urls = [], sandboxUrls = [] } = app.webhook ?? {};
  if (type === 'test') return [...urls, ...sandboxUrls];
  const { purchaseId } = notification;
  if (sandboxUrls.length === 0 || purchaseId === undefined) return urlsFor(app, false);
  const found = await deps.purchases.find(app.name, purchaseId);
  return urlsFor(app, found?.purchase.sandbox);
}

/**
 * Sends what was meant for a URL that the application has given up to those that it has now, each with all attempts before
 * it; a URL that has been told of the notification already is not told again. Returns what becomes of the delivery.
 */
export async function redirect(delivery: Delivery, urls: readonly string[], deps: Deps): Promise<Delivery> {
  const { app, type, username, notification } = delivery;
  const given = ended(delivery, 'The application has another URL now.');
  // A test was of that URL.
  if (type === 'test') return given;
  const moved = urls.map((url) =>
    newDelivery({
      app,
      type,
      url,
      ...(username !== undefined && { username }),
      notification,
      createdAt: deps.now(),
    }),
  );
  for (const one of moved) await begin(one, deps);
  await sendOut(moved, deps);
  return moved.length > 0 ? { ...given, state: 'moved' } : ended(delivery, 'The application has no URL any more.');
}

/** Makes the delivery; one that was moved away from its URL and comes back to it begins anew. */
async function begin(delivery: Delivery, { deliveries, now }: Deps): Promise<void> {
  if (await deliveries.create(delivery)) return;
  const present = await deliveries.find(delivery.app, delivery.deliveryId);
  if (present?.state === 'moved') await deliveries.replace(present, replayed(present, now()), now());
}
