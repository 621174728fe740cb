import { createAppItemRepository } from '../../../lib/db/app-item-repository.ts';
import { createCounterRepository } from '../../../lib/db/counter-repository.ts';
import { createCustomerRepository } from '../../../lib/db/customer-repository.ts';
import { createOwnedPurchaseRepository } from '../../../lib/db/owned-purchase-repository.ts';
import { createStreamMarkerRepository } from '../../../lib/db/stream-marker-repository.ts';
import type { Table } from '../../../lib/foundation/table.ts';
import type { StreamFailure } from '../../../lib/shared/stream-failure.ts';
import { createCrashingTable } from '../../../testing/crashing-table.ts';

/** The dependencies of the aggregator and the recount. `crashes` is called before and after each update. */
export function createAggregationDeps(table: Table, crashes: () => boolean = () => false) {
  const sent: StreamFailure[] = [];
  const crashingTable = createCrashingTable(table, crashes);
  return {
    appItems: createAppItemRepository(table),
    counters: createCounterRepository(crashingTable),
    customers: createCustomerRepository(crashingTable),
    ownedPurchases: createOwnedPurchaseRepository(table),
    streamFailures: { send: async (failures: readonly StreamFailure[]) => void sent.push(...failures) },
    /** The failures that the aggregator reported. */
    sentFailures: sent,
    streamMarkers: createStreamMarkerRepository(crashingTable),
  };
}
