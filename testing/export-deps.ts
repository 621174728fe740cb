import { createAppItemRepository } from '../lib/db/app-item-repository.ts';
import { createOwnedPurchaseRepository } from '../lib/db/owned-purchase-repository.ts';
import type { Table } from '../lib/foundation/table.ts';
import type { Catalogue } from '../lib/purchases/catalogue.ts';
import { startDate } from './given.ts';
import { createCustomerDataDeps } from './given-customer.ts';

/** Dependencies of the export of an app over one table, with a clock that `moveTo` sets. */
export function createExportDeps(table: Table, catalogue?: Catalogue) {
  let now = startDate;
  return {
    ...createCustomerDataDeps(table),
    now: () => now,
    moveTo(time: number): void {
      now = time;
    },
    appCache: { findCatalogue: async () => catalogue },
    appItems: createAppItemRepository(table),
    ownedPurchases: createOwnedPurchaseRepository(table),
  };
}
