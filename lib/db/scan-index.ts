import { allTimestamps, indexes, tableKey } from './keys.ts';
import type { Item, Table } from './table.ts';

interface IndexRange {
  readonly partition: string;
  /** Index to read, in which the sort keys of the partition are unique. Defaults to the table itself. */
  readonly index?: keyof typeof indexes;
  /** The first and the last sort key. Defaults to all sort keys that start with a time. */
  readonly between?: readonly [string, string];
  /** Maximum number of entries in a batch. Default: 1,000. */
  readonly pageSize?: number;
}

/** Scans a partition of an index, or of the table, in batches. */
export async function* scanIndex(
  table: Table,
  { partition, index, between: [from, until] = allTimestamps, pageSize = 1_000 }: IndexRange,
) {
  const { sk } = index ? indexes[index] : tableKey;
  let last = from;
  for (;;) {
    const page: Item[] = await table.query({
      partition,
      between: [last, until],
      limit: pageSize,
      ...(index && { index }),
    });
    // `BETWEEN` includes both bounds: the last entry is returned again and dropped.
    const newEntries = page.filter((entry) => entry[sk] !== last);
    if (newEntries.length > 0) yield newEntries;
    if (page.length < pageSize) return;
    last = String(newEntries.at(-1)?.[sk]);
  }
}
