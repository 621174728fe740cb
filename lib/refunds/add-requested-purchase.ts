import type { EventRecorder } from '../events/event-recorder.ts';
import type { Service } from '../foundation/service.ts';
import { findPurchase } from '../purchases/purchase-table.ts';
import type { RefundRequest } from './refund-request.ts';

/** Adds the purchase of a refund request to an event, and the customer, whose timeline then has the event. */
export function addRequestedPurchase(recorder: EventRecorder, purchaseId: string, username: string | undefined): void {
  recorder.addTag(purchaseId, '_P');
  if (username !== undefined) recorder.setUser(username);
}

/** Finds the customer of the purchase. */
export async function findRequestCustomer(
  service: Service,
  appName: string,
  { purchaseId }: Pick<RefundRequest, 'purchaseId'>,
): Promise<string | undefined> {
  return (await findPurchase(service, appName, purchaseId))?.entitledUsers[0];
}
