import { indexes, tableKey } from './key.ts';
import type { Item, Table } from './table.ts';

/** A range of sort keys in all shards of a list. */
export interface ShardedRange {
  /** The partitions of the shards. Each item is in one of them. */
  readonly partitions: readonly string[];
  /** Index to read. Defaults to the table itself. */
  readonly index?: keyof typeof indexes;
  /** The first and the last sort key, both included. */
  readonly between: readonly [string, string];
  readonly newestFirst?: boolean;
  /** Half the read units of the table; the result can be stale. Indexes are always eventually consistent. */
  readonly isEventuallyConsistent?: boolean;
}

/** Returns the first `limit` items of a range, or all, in the order of their sort keys. */
export const queryShards = async (table: Table, range: ShardedRange, limit = Infinity): Promise<Item[]> =>
  await createShardMerger(table, range).read(limit);

/** Scans a range in batches, in the order of the sort keys. */
export async function* scanShards(table: Table, range: ShardedRange, pageSize = 1_000): AsyncGenerator<Item[]> {
  const merger = createShardMerger(table, range);
  for (;;) {
    const items = await merger.read(pageSize);
    if (items.length > 0) yield items;
    if (items.length < pageSize) return;
  }
}

/**
 * Merges the shards of a list. An item that exists during all reads is returned exactly once, even if other items are
 * inserted concurrently. Reads each shard in pages of its expected share, and only a shard whose page is used up again.
 */
function createShardMerger(table: Table, range: ShardedRange) {
  const { sk } = range.index ? indexes[range.index] : tableKey;
  const sign = range.newestFirst ? -1 : 1;
  const compare = (a: Item, b: Item): number => sign * compareSortKeys(String(a[sk]), String(b[sk]));
  const { partitions, ...shardRange } = range;
  const shards = partitions.map((partition) => createShardReader(table, { ...shardRange, partition }));
  return {
    /** Returns the next `limit` items. Fewer at the end of the list. */
    async read(limit: number): Promise<Item[]> {
      const merged: Item[] = [];
      for (;;) {
        takeInOrder(shards, { merged, limit, compare });
        const used = shards.filter(({ needsPage }) => needsPage());
        if (merged.length >= limit || used.length === 0) return merged;
        const pageSize = computePageSize(limit - merged.length, shards.length);
        await Promise.all(used.map(async (shard) => await shard.readPage(pageSize)));
      }
    },
  };
}

/**
 * Returns the expected number of the next `count` items in a shard, with a margin of one standard deviation. Four more
 * fit into the 4 KB that the smallest query costs.
 */
function computePageSize(count: number, shards: number): number {
  if (shards === 1 || count === Infinity) return count;
  const share = count / shards;
  return Math.min(count, Math.ceil(share + Math.sqrt(share)) + 4);
}

type ShardReader = ReturnType<typeof createShardReader>;

function createShardReader(table: Table, range: Omit<ShardedRange, 'partitions'> & { readonly partition: string }) {
  let page: readonly Item[] = [];
  let position = 0;
  let isExhausted = false;
  return {
    next: (): Item | undefined => page[position],
    take(): void {
      position++;
    },
    /** The shard can have items after those that were taken, and the next one is not read. */
    needsPage: (): boolean => !isExhausted && position === page.length,
    async readPage(size: number): Promise<void> {
      page = await table.query({
        ...range,
        after: page.at(-1),
        ...(size !== Infinity && { limit: size }),
      });
      position = 0;
      isExhausted = page.length < size;
    },
  };
}

interface MergeContext {
  readonly merged: Item[];
  readonly limit: number;
  readonly compare: (a: Item, b: Item) => number;
}

/** Takes the first items of the shards in order, until one shard needs its next page. */
function takeInOrder(shards: readonly ShardReader[], { merged, limit, compare }: MergeContext): void {
  while (merged.length < limit && !shards.some(({ needsPage }) => needsPage())) {
    let first: ShardReader | undefined;
    for (const shard of shards) {
      const [item, firstItem] = [shard.next(), first?.next()];
      if (item && (!firstItem || compare(item, firstItem) < 0)) first = shard;
    }
    const item = first?.next();
    if (!first || !item) return;
    merged.push(item);
    first.take();
  }
}

/**
 * Compares two sort keys in the order of DynamoDB, which is the order of their bytes in UTF-8. The order of JavaScript
 * differs for characters outside the basic plane, such as emoji.
 */
export function compareSortKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const [unitOfA, unitOfB] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (unitOfA !== unitOfB) return toByteRank(unitOfA) - toByteRank(unitOfB);
  }
  return a.length - b.length;
}

/** Ranks surrogates after all other code units: UTF-8 encodes them in four bytes, others in at most three. */
const toByteRank = (unit: number): number => (unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit);
