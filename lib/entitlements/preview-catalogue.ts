import pMap from 'p-map';
import type { App } from '../apps/app.ts';
import { type Catalogue, listEntitlements } from '../apps/catalogue.ts';
import type { CataloguePreview } from '../apps/catalogue-contract.ts';
import type { Service } from '../foundation/service.ts';
import { getPurchasePage } from '../lists/list-tables.ts';
import { listRepresentativePurchases } from '../purchases/owned-purchase-table.ts';
import { isUnpaid } from '../purchases/purchase.ts';
import { computeEntitlements, type Entitlements } from './entitlements.ts';
import { listStoredGrants } from './grant-table.ts';

/** Bounds of a preview. Unlimited on the command line. */
interface PreviewBounds {
  readonly maxPurchases: number;
  readonly maxCustomers: number;
}

/** Keeps a request below the timeout of the gateway. */
export const requestBounds: PreviewBounds = { maxPurchases: 20_000, maxCustomers: 2_000 };

const pageSize = 1_000;
const concurrency = 25;
const maxListedCustomers = 100;

export type EntitlementChange = CataloguePreview['customers'][number];

/**
 * Computes who gains and loses what if the catalogue is replaced now. Reads the purchases of the app, and computes the
 * entitlements of the customers who own one whose product gives something else. Changes nothing.
 */
export async function previewCatalogue(
  service: Service,
  app: Pick<App, 'name' | 'sandboxRule'>,
  catalogues: CatalogueChange,
  bounds?: PreviewBounds,
): Promise<CataloguePreview> {
  const { changes, ...checked } = await findEntitlementChanges(service, app, catalogues, bounds);
  return { entitlements: countByName(changes), customers: changes.slice(0, maxListedCustomers), ...checked };
}

interface CatalogueChange {
  readonly before: Catalogue | undefined;
  readonly after: Catalogue;
}

/** Finds the customers who gain or lose an entitlement by a change of the catalogue. */
export async function findEntitlementChanges(
  service: Service,
  app: Pick<App, 'name' | 'sandboxRule'>,
  { before, after }: CatalogueChange,
  bounds: PreviewBounds = { maxPurchases: Number.POSITIVE_INFINITY, maxCustomers: Number.POSITIVE_INFINITY },
) {
  const owners = await findOwners(service, app.name, { before, after }, bounds);
  const usernames = [...owners.usernames].slice(0, bounds.maxCustomers);
  const changes = await pMap(
    usernames,
    async (applicationUsername) => {
      const [purchases, grants] = await Promise.all([
        listRepresentativePurchases(service, app.name, applicationUsername),
        listStoredGrants(service, app.name, applicationUsername),
      ]);
      const facts = { username: applicationUsername, purchases, grants, sandboxRule: app.sandboxRule };
      const [held, kept] = [before, after].map((catalogue) =>
        listActive(computeEntitlements({ ...facts, catalogue }, service.now())),
      ) as [string[], string[]];
      return {
        applicationUsername,
        gains: kept.filter((name) => !held.includes(name)),
        loses: held.filter((name) => !kept.includes(name)),
      };
    },
    { concurrency },
  );
  return {
    changes: changes.filter(({ gains, loses }): boolean => gains.length + loses.length > 0),
    checkedPurchases: owners.checkedPurchases,
    checkedCustomers: usernames.length,
    isComplete: owners.isComplete && usernames.length === owners.usernames.size,
  };
}

/** Finds the owners of purchases whose product gives something else. */
async function findOwners(
  service: Service,
  appName: string,
  { before, after }: CatalogueChange,
  { maxPurchases }: PreviewBounds,
) {
  const usernames = new Set<string>();
  let checkedPurchases = 0;
  for (;;) {
    const { rows } = await getPurchasePage(service, appName, {
      skip: checkedPurchases,
      limit: pageSize,
      now: service.now(),
    });
    checkedPurchases += rows.length;
    for (const { purchase, entitledUsers } of rows) {
      const [given, planned] = [before, after].map((catalogue) => listEntitlements(catalogue, purchase.productId));
      if (isUnpaid(purchase) || String(given?.toSorted()) === String(planned?.toSorted())) continue;
      for (const username of entitledUsers) usernames.add(username);
    }
    if (rows.length < pageSize) return { usernames, checkedPurchases, isComplete: true };
    if (checkedPurchases >= maxPurchases) return { usernames, checkedPurchases, isComplete: false };
  }
}

const listActive = (entitlements: Entitlements): string[] =>
  [...entitlements].filter(([, { isActive }]) => isActive).map(([name]) => name);

function countByName(customers: CataloguePreview['customers']): CataloguePreview['entitlements'] {
  const names = new Set(customers.flatMap(({ gains, loses }) => [...gains, ...loses]));
  return Object.fromEntries(
    [...names].sort().map((name) => [
      name,
      {
        gains: customers.filter(({ gains }) => gains.includes(name)).length,
        loses: customers.filter(({ loses }) => loses.includes(name)).length,
      },
    ]),
  );
}
