import type { Service } from '../lib/foundation/service.ts';
import type { Table } from '../lib/foundation/table.ts';
import { createService } from './create-service.ts';
import { startDate } from './given.ts';

/** Creates the service record of an export over one table, with a clock that `moveTo` sets. */
export function createExportService(table: Table): Service & { moveTo(time: number): void } {
  let now = startDate;
  return {
    ...createService(table, { now: () => now }),
    moveTo(time) {
      now = time;
    },
  };
}
