import { createGrantRepository } from '../lib/db/grant-repository.ts';
import { createOwnedPurchaseRepository } from '../lib/db/owned-purchase-repository.ts';
import type { EntitlementDeps } from '../lib/entitlements/read-entitlements.ts';
import { once } from '../lib/shared/once.ts';
import { appCache } from './apps.ts';
import { now } from './environment.ts';
import { table } from './table.ts';

export const grants = once(() => createGrantRepository(table()));

/** What reads the entitlements of a customer. */
export const entitlementDeps = once(
  (): EntitlementDeps => ({
    appCache: appCache(),
    grants: grants(),
    now,
    ownedPurchases: createOwnedPurchaseRepository(table()),
  }),
);
