import type { StreamFailure } from '../../../lib/foundation/stream-failure.ts';
import type { Table } from '../../../lib/foundation/table.ts';
import { createCrashingTable } from '../../../testing/crashing-table.ts';
import { createService } from '../../../testing/create-service.ts';

/** The dependencies of the aggregator and the recount. `crashes` is called before and after each update. */
export function createAggregationService(table: Table, crashes: () => boolean = () => false) {
  const sent: StreamFailure[] = [];
  const crashingTable = createCrashingTable(table, crashes);
  return {
    ...createService(crashingTable),
    streamFailures: {
      send: async (failures: readonly object[]) => void sent.push(...(failures as readonly StreamFailure[])),
    },
    /** The failures that the aggregator reported. */
    sentFailures: sent,
  };
}
