import type { EventRecorder } from '../events/event-recorder.ts';
import type { Service } from '../foundation/service.ts';
import { findPurchase } from '../purchases/purchase-table.ts';

/** Adds the purchase of a refund request to an event, and the customer, whose timeline then has the event. */
export async function addRequestedPurchase(
  service: Service,
  recorder: EventRecorder,
  { appName, purchaseId }: { readonly appName: string; readonly purchaseId: string },
): Promise<void> {
  recorder.addTag(purchaseId, '_P');
  const [username] = (await findPurchase(service, appName, purchaseId))?.entitledUsers ?? [];
  if (username !== undefined) recorder.setUser(username);
}
