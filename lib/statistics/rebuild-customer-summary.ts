import * as v from 'valibot';
import { updateCustomerSummary } from '../customers/customer-table.ts';
import { toCanonicalJson } from '../foundation/canonical-json.ts';
import { parse } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';
import type { StreamRecord } from '../foundation/stream-record.ts';
import { listRepresentativePurchases } from '../purchases/owned-purchase-table.ts';

export interface CustomerKey {
  readonly appName: string;
  readonly username: string;
}

const PurchaseImage = v.object({ entitledUsers: v.array(v.string()), purchase: v.looseObject({}) });

/** Returns the customers who were or are entitled to a purchase that has changed, each once. */
export function findAffectedCustomers(records: readonly StreamRecord[]): CustomerKey[] {
  const customers = new Map<string, CustomerKey>();
  for (const { appName, kind, before, after } of records) {
    if (kind !== 'purchase') continue;
    const images = [after, before].flatMap((image) => (image ? [parse(PurchaseImage, image, 'InternalError')] : []));
    const [content, previousContent] = images.map(
      ({ purchase, entitledUsers }) => `${toCanonicalJson(purchase)}\n${JSON.stringify(entitledUsers)}`,
    );
    if (content === previousContent) continue;
    for (const username of images.flatMap(({ entitledUsers }) => entitledUsers)) {
      customers.set(`${appName}\n${username}`, { appName, username });
    }
  }
  return [...customers.values()];
}

/**
 * Recomputes the customer's summary from the current purchases, so repeated and late records change nothing. Optimistic
 * locking: a summary of older purchases never replaces a newer one. Returns undefined if the customer does not exist.
 */
export async function rebuildCustomerSummary(
  service: Service,
  { appName, username }: CustomerKey,
): ReturnType<typeof updateCustomerSummary> {
  const listPurchases = async () => await listRepresentativePurchases(service, appName, username, 'subscriptions');
  return await updateCustomerSummary(service, appName, username, listPurchases);
}
