import type { App } from '../apps/app.ts';
import type { Catalogue } from '../purchases/catalogue.ts';
import type { OwnedPurchaseRepository } from '../purchases/owned-purchase-repository.ts';
import type { EpochMillis } from '../shared/time.ts';
import { computeEntitlements, type Entitlements } from './entitlements.ts';
import type { GrantRepository } from './grant-repository.ts';

export interface EntitlementDeps {
  readonly appCache: { findCatalogue(appName: string): Promise<Catalogue | undefined> };
  readonly grants: Pick<GrantRepository, 'list'>;
  now(): EpochMillis;
  readonly ownedPurchases: Pick<OwnedPurchaseRepository, 'listRepresentativePurchases'>;
}

/** Reads and computes the entitlements of a customer. The cost does not grow with the number of purchases. */
export async function readEntitlements(
  { name, sandboxRule }: Pick<App, 'name' | 'sandboxRule'>,
  username: string,
  { appCache, grants, now, ownedPurchases }: EntitlementDeps,
): Promise<Entitlements> {
  const [catalogue, purchases, ownGrants] = await Promise.all([
    appCache.findCatalogue(name),
    ownedPurchases.listRepresentativePurchases(name, username),
    grants.list(name, username),
  ]);
  return computeEntitlements({ username, purchases, grants: ownGrants, catalogue, sandboxRule }, now());
}
