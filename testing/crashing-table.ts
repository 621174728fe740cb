import type { Table } from '../lib/db/table.ts';

/** The table for somebody who may crash right before and right after each single write. */
export const createCrashingTable = (table: Table, crashes: () => boolean): Table => ({
  ...table,
  update: async (update) => {
    if (crashes()) throw new Error('crashed before the write');
    await table.update(update);
    if (crashes()) throw new Error('crashed after the write');
  },
});
