import { listEventPageByTags } from '../events/event-list-table.ts';
import type { Service } from '../foundation/service.ts';
import { hourMs } from '../foundation/time.ts';
import { findPurchase } from '../purchases/purchase-table.ts';

/** Events that are read: a customer has few in an hour. */
const maxEvents = 100;

/** Purchases that are read: the first one is the customer's as a rule. */
const maxPurchases = 50;

/**
 * Finds a purchase of the customer among those that the customer has validated in the last hour, by the log of events.
 * A device chooses the name with which it validates, so with the strategy `all` only the first customer of a purchase
 * counts. Returns its id, the same one for the same receipts.
 */
export async function findValidatedReceipt(
  service: Service,
  appName: string,
  username: string,
): Promise<string | undefined> {
  const query = { startdate: service.now() - hourMs, limit: maxEvents, includesReads: false };
  const { rows } = await listEventPageByTags(service, appName, [username], query);
  const validated = rows.filter(
    ({ type, outcome, applicationUsername }) =>
      type === 'receipt.validated' && outcome.ok && applicationUsername === username,
  );
  const ids = new Set(
    validated.flatMap(({ content }) => content.purchases.map(({ purchaseId }) => String(purchaseId))),
  );
  for (const purchaseId of [...ids].sort().slice(0, maxPurchases)) {
    const [owner] = (await findPurchase(service, appName, purchaseId))?.entitledUsers ?? [];
    if (owner === username) return purchaseId;
  }
  return undefined;
}
