import type { App } from '../apps/app.ts';
import { findCachedCatalogue } from '../apps/catalogue-table.ts';
import type { Service } from '../foundation/service.ts';
import { listRepresentativePurchases } from '../purchases/owned-purchase-table.ts';
import { computeEntitlements, type Entitlements } from './entitlements.ts';
import { listStoredGrants } from './grant-table.ts';

/** Reads and computes the entitlements of a customer. The cost does not grow with the number of purchases. */
export async function readEntitlements(
  service: Service,
  { name, sandboxRule }: Pick<App, 'name' | 'sandboxRule'>,
  username: string,
): Promise<Entitlements> {
  const [catalogue, purchases, ownGrants] = await Promise.all([
    findCachedCatalogue(service, name),
    listRepresentativePurchases(service, name, username),
    listStoredGrants(service, name, username),
  ]);
  return computeEntitlements({ username, purchases, grants: ownGrants, catalogue, sandboxRule }, service.now());
}
