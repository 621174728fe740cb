import * as v from 'valibot';
import type { Deps } from '../deps.ts';
import { parse } from '../shared/parse.ts';
import type { StreamRecord } from '../shared/stream-record.ts';

export interface CustomerKey {
  readonly appName: string;
  readonly username: string;
}

const PurchaseImage = v.object({ version: v.number(), entitledUsers: v.array(v.string()) });

/** Returns the customers who were or are entitled to a purchase with a new version, each once. */
export function findAffectedCustomers(records: readonly StreamRecord[]): CustomerKey[] {
  const customers = new Map<string, CustomerKey>();
  for (const { appName, kind, before, after } of records) {
    if (kind !== 'purchase') continue;
    const images = [after, before].flatMap((image) => (image ? [parse(PurchaseImage, image, 'InternalError')] : []));
    if (images.length === 2 && images[0]?.version === images[1]?.version) continue;
    for (const username of images.flatMap(({ entitledUsers }) => entitledUsers)) {
      customers.set(`${appName}\n${username}`, { appName, username });
    }
  }
  return [...customers.values()];
}

/**
 * Recomputes the customer's summary from the current purchases, so repeated and late records have no effect. Optimistic
 * locking: a summary of older purchases never replaces a newer one. Returns undefined if the customer does not exist.
 */
export async function rebuildCustomerSummary(
  { appName, username }: CustomerKey,
  { customers, ownedPurchases }: Pick<Deps, 'customers' | 'ownedPurchases'>,
): ReturnType<Deps['customers']['updateSummary']> {
  const listPurchases = async () => await ownedPurchases.listDecidingPurchases(appName, username, 'subscriptions');
  return await customers.updateSummary(appName, username, listPurchases);
}
