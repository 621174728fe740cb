import type { Item, Table } from '../lib/foundation/table.ts';

/** Returns the table, which writes the next of the items before each query and after it. */
export function insertDuringQueries(table: Table, items: readonly Item[]): Table {
  const remaining = [...items];
  const insertNext = async () => await table.batchPut(remaining.splice(0, 1));
  return {
    ...table,
    async query(range) {
      await insertNext();
      const result = await table.query(range);
      await insertNext();
      return result;
    },
  };
}
