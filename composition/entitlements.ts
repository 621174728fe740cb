import { createOwnedPurchaseRepository } from '../lib/db/owned-purchase-repository.ts';
import type { EntitlementDeps } from '../lib/entitlements/read-entitlements.ts';
import { once } from '../lib/shared/once.ts';
import { appCache } from './apps.ts';
import { service } from './service.ts';
import { table } from './table.ts';

/** What reads the entitlements of a customer. */
export const entitlementDeps = once(
  (): EntitlementDeps => ({
    ...service(),
    appCache: appCache(),
    ownedPurchases: createOwnedPurchaseRepository(table()),
  }),
);
