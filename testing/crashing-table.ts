import type { Table } from '../lib/foundation/table.ts';

/** The methods that write. */
export const tableWrites = ['update', 'transact', 'batchPut', 'delete', 'batchDelete'] as const;

/** Creates a table of which `methods` throw before or after the write if `crashes` returns true. */
export function createCrashingTable(
  table: Table,
  crashes: () => boolean,
  methods: readonly (typeof tableWrites)[number][] = ['update'],
): Table {
  const crashing = methods.map((name) => {
    const write = table[name] as (argument: unknown) => Promise<void>;
    const run = async (argument: unknown): Promise<void> => {
      if (crashes()) throw new Error('crashed before the write');
      await write(argument);
      if (crashes()) throw new Error('crashed after the write');
    };
    return [name, run];
  });
  return { ...table, ...Object.fromEntries(crashing) };
}
