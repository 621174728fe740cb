import type { OperationContext } from '../events/operation-context.ts';
import type { StoreNotification } from '../stores/store.ts';
import type { StoreRequest } from '../stores/store-request-contract.ts';
import { announceStoreRequest } from '../webhooks/announce-store-request.ts';

/** An account can have many purchases; the event is tagged with the first ones only. */
const maxTaggedPurchases = 10;

/** Announces a store's request to the app, and adds its customers and purchases to the event of the notification. */
export async function recordStoreRequest(
  { app, recorder, service }: OperationContext,
  request: StoreRequest,
  { key, occurredAt }: StoreNotification,
): Promise<void> {
  const { purchases, usernames } = await announceStoreRequest(service, app, { request, key, date: occurredAt });
  for (const { purchaseId } of purchases.slice(0, maxTaggedPurchases)) recorder.addTag(purchaseId, '_P');
  for (const username of usernames) recorder.addTag(username, '_A');
  const rows = purchases.map(({ purchaseId, productId, platform }) => ({ purchaseId, productId, platform }));
  recorder.addContent({ purchases: rows });
  const [username] = usernames;
  if (username !== undefined) recorder.setUser(username);
}
