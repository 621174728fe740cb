import type { App } from '../apps/app.ts';
import type { CustomerRow } from '../customers/customer-summary.ts';
import { type CustomerFilter, matchesCustomer } from '../customers/filter-customers.ts';
import type { Attempt } from '../foundation/failed-items.ts';
import type { CursorPage } from '../foundation/read-cursor-page.ts';
import type { Service } from '../foundation/service.ts';
import { findCustomers } from '../lists/list-tables.ts';
import { readEntitlements } from './read-entitlements.ts';

interface CustomerSearch {
  readonly filter: CustomerFilter & { readonly entitlement?: string | undefined };
  readonly order: 'newest' | 'oldest';
  readonly limit: number;
  readonly cursor?: string | undefined;
  /** For a list that leaves out customers that are not readable. */
  readonly attempt?: Attempt;
}

/** Maximum number of customers that a page reads. The entitlements of a customer cost further reads. */
const maxScanned = 1_000;
const maxScannedForEntitlement = 200;

/** Finds the customers that match, by the time of their creation. */
export async function searchCustomers(
  service: Service,
  app: Pick<App, 'name' | 'sandboxRule'>,
  { filter, ...page }: CustomerSearch,
): Promise<CursorPage<CustomerRow>> {
  const { entitlement } = filter;
  const limit = entitlement === undefined ? page.limit : Math.min(page.limit, maxScannedForEntitlement);
  return await findCustomers(service, app.name, {
    ...page,
    limit,
    maxScanned: entitlement === undefined ? maxScanned : maxScannedForEntitlement,
    async matches({ username, summary }) {
      if (!matchesCustomer(summary, filter, service.now())) return false;
      if (entitlement === undefined) return true;
      return (await readEntitlements(service, app, username)).get(entitlement)?.isActive === true;
    },
  });
}
