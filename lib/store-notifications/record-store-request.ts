import type { App } from '../apps/app.ts';
import type { EventRecorder } from '../events/event-recorder.ts';
import type { Service } from '../foundation/service.ts';
import type { StoreNotification } from '../stores/store.ts';
import type { StoreRequest } from '../stores/store-request-contract.ts';
import { announceStoreRequest } from '../webhooks/announce-store-request.ts';

/** An account can have many purchases; the event is tagged with the first ones only. */
const maxTaggedPurchases = 10;

/** Announces a store's request to the app, and adds its customers and purchases to the event of the notification. */
export async function recordStoreRequest(
  request: StoreRequest,
  {
    app,
    notification: { key, occurredAt },
    recorder,
    service,
  }: {
    readonly app: App;
    readonly notification: StoreNotification;
    readonly recorder: EventRecorder;
    readonly service: Service;
  },
): Promise<void> {
  const { purchases, usernames } = await announceStoreRequest(app, request, { key, date: occurredAt, service });
  for (const { purchaseId } of purchases.slice(0, maxTaggedPurchases)) recorder.addTag(purchaseId, '_P');
  for (const username of usernames) recorder.addTag(username, '_A');
  const rows = purchases.map(({ purchaseId, productId, platform }) => ({ purchaseId, productId, platform }));
  recorder.addContent({ purchases: rows });
  const [username] = usernames;
  if (username !== undefined) recorder.setUser(username);
}
