import type { Table } from '../lib/foundation/table.ts';

/** Creates a table whose `update` throws before or after the write if `crashes` returns true. */
export const createCrashingTable = (table: Table, crashes: () => boolean): Table => ({
  ...table,
  update: async (update) => {
    if (crashes()) throw new Error('crashed before the write');
    await table.update(update);
    if (crashes()) throw new Error('crashed after the write');
  },
});
