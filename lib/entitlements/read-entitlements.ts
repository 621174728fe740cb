import type { App } from '../apps/app.ts';
import type { Service } from '../foundation/service.ts';
import type { Catalogue } from '../purchases/catalogue.ts';
import type { OwnedPurchaseRepository } from '../purchases/owned-purchase-repository.ts';
import { computeEntitlements, type Entitlements } from './entitlements.ts';
import { listGrants } from './grant-table.ts';

export interface EntitlementDeps extends Pick<Service, 'table' | 'now'> {
  readonly appCache: { findCatalogue(appName: string): Promise<Catalogue | undefined> };
  readonly ownedPurchases: Pick<OwnedPurchaseRepository, 'listRepresentativePurchases'>;
}

/** Reads and computes the entitlements of a customer. The cost does not grow with the number of purchases. */
export async function readEntitlements(
  { name, sandboxRule }: Pick<App, 'name' | 'sandboxRule'>,
  username: string,
  deps: EntitlementDeps,
): Promise<Entitlements> {
  const [catalogue, purchases, ownGrants] = await Promise.all([
    deps.appCache.findCatalogue(name),
    deps.ownedPurchases.listRepresentativePurchases(name, username),
    listGrants(deps, name, username),
  ]);
  return computeEntitlements({ username, purchases, grants: ownGrants, catalogue, sandboxRule }, deps.now());
}
