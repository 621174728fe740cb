import { allTimestamps, type indexes } from './key.ts';
import { scanShards } from './merge-shards.ts';
import type { Item, Table } from './table.ts';

interface IndexRange {
  readonly partition: string;
  /** Index to read. Defaults to the table itself. */
  readonly index?: keyof typeof indexes;
  /** The first and the last sort key. Defaults to all sort keys that start with a time. */
  readonly between?: readonly [string, string];
  /** Maximum number of entries in a batch. Default: 1,000. */
  readonly pageSize?: number;
}

/** Scans a partition of an index, or of the table, in batches. */
export const scanIndex = (
  table: Table,
  { partition, between = allTimestamps, pageSize, ...range }: IndexRange,
): AsyncGenerator<Item[]> => scanShards(table, { ...range, partitions: [partition], between }, pageSize);
