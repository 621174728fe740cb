import * as v from 'valibot';
import type { CustomerRepository } from '../customers/customer-repository.ts';
import { toCanonicalJson } from '../purchases/canonical-json.ts';
import type { OwnedPurchaseRepository } from '../purchases/owned-purchase-repository.ts';
import { parse } from '../shared/parse.ts';
import type { StreamRecord } from '../shared/stream-record.ts';

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

interface SummaryDeps {
  readonly customers: CustomerRepository;
  readonly ownedPurchases: OwnedPurchaseRepository;
}

/**
 * Recomputes the customer's summary from the current purchases, so repeated and late records have no effect. Optimistic
 * locking: a summary of older purchases never replaces a newer one. Returns undefined if the customer does not exist.
 */
export async function rebuildCustomerSummary(
  { appName, username }: CustomerKey,
  { customers, ownedPurchases }: SummaryDeps,
): ReturnType<CustomerRepository['updateSummary']> {
  const listPurchases = async () =>
    await ownedPurchases.listRepresentativePurchases(appName, username, 'subscriptions');
  return await customers.updateSummary(appName, username, listPurchases);
}
