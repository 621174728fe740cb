import * as v from 'valibot';
import type { Catalogue } from '../../../lib/apps/catalogue.ts';
import { collect } from './pull-revenuecat.ts';
import type { RevenueCatClient } from './revenuecat-client.ts';

const Product = v.object({ id: v.string(), store_identifier: v.string(), type: v.string() });
const Entitlement = v.object({ id: v.string(), lookup_key: v.string() });

/** The products of a project, by RevenueCat's id, and the catalogue with their entitlements. */
export interface RevenueCatCatalogue {
  readonly productIds: ReadonlyMap<string, string>;
  readonly catalogue: Catalogue;
}

const productTypes: Readonly<Record<string, Catalogue[string]['type']>> = {
  subscription: 'paid subscription',
  one_time: 'non consumable',
  non_consumable: 'non consumable',
  consumable: 'consumable',
  non_renewing_subscription: 'non renewing subscription',
};

/** Names of entitlements that the service accepts. */
const toEntitlementName = (lookupKey: string): string => lookupKey.trim().replaceAll(/[^\w.-]+/g, '_');

/** A product of Google Play since February 2023 is `<subscription>:<base plan>`. */
const omitBasePlan = (identifier: string): string => identifier.split(':', 1)[0] ?? identifier;

export async function readRevenueCatCatalogue(client: RevenueCatClient, project: string): Promise<RevenueCatCatalogue> {
  const base = `/projects/${encodeURIComponent(project)}`;
  const products = await collect(client.list(`${base}/products`, Product));
  const names = new Map<string, Set<string>>();
  for (const { id, lookup_key } of await collect(client.list(`${base}/entitlements`, Entitlement)))
    for (const product of await collect(
      client.list(`${base}/entitlements/${encodeURIComponent(id)}/products`, Product),
    )) {
      const identifier = omitBasePlan(product.store_identifier);
      names.set(identifier, (names.get(identifier) ?? new Set()).add(toEntitlementName(lookup_key)));
    }
  const entries = products.map(({ store_identifier, type }) => {
    const identifier = omitBasePlan(store_identifier);
    const entitlements = [...(names.get(identifier) ?? [])].sort();
    const product = { type: productTypes[type] ?? ('paid subscription' as const) };
    return [identifier, { ...product, ...(entitlements.length > 0 && { entitlements }) }] as const;
  });
  return {
    productIds: new Map(products.map(({ id, store_identifier }) => [id, omitBasePlan(store_identifier)])),
    catalogue: Object.fromEntries(entries),
  };
}
