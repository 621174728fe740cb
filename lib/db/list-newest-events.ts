import type { EventRange } from '../events/event-repository.ts';
import * as keys from './keys.ts';
import type { Item, Table } from './table.ts';

interface EventPage extends EventRange {
  readonly skip: number;
  readonly limit: number;
  /** Selects events with a lower sort key. */
  readonly before?: string | undefined;
}

interface ListedEvent {
  /** `<date>#<eventId>`. */
  readonly sortKey: string;
  readonly item: Item;
}

/**
 * Returns the items of the newest `limit` events after the first `skip`, newest first. Events are spread evenly over
 * the shards: each shard is queried for its share and a margin, and only a shard that can contain more of them is
 * queried again. Reads about 1.3 times as many events as it returns and skips.
 */
export async function listNewestEventItems(
  table: Table,
  appName: string,
  { skip, limit, before, ...dates }: EventPage,
): Promise<ListedEvent[]> {
  const range = keys.timestampRange(dates, before);
  const count = skip + limit;
  if (count === 0 || range[0] > range[1]) return [];
  const partitions = keys.eventPartitions(appName);
  const pageSize = computeShardLimit(count, partitions.length);
  let openShards = partitions.map((partition) => createShardReader(table, { partition, range }));
  let newest: ListedEvent[] = [];
  while (openShards.length > 0) {
    const pages = await Promise.all(openShards.map((shard) => shard.readPage(pageSize)));
    newest = [...newest, ...pages.flat()].sort(byDescendingDate).slice(0, count);
    const oldestOfNewest = newest.length < count ? '' : (newest.at(-1)?.sortKey ?? '');
    openShards = openShards.filter((shard) => shard.canHaveEventAfter(oldestOfNewest));
  }
  return newest.slice(skip);
}

/** Returns the expected number of the newest `count` events in a shard plus three standard deviations. */
const computeShardLimit = (count: number, shards: number): number =>
  Math.min(count, Math.ceil(count / shards + 3 * Math.sqrt(count / shards)));

const byDescendingDate = (a: ListedEvent, b: ListedEvent): number => (a.sortKey < b.sortKey ? 1 : -1);

interface Shard {
  readonly partition: string;
  readonly range: readonly [from: string, until: string];
}

function createShardReader(table: Table, { partition, range: [from, until] }: Shard) {
  /** The oldest sort key that has been read. Undefined once the shard is exhausted. */
  let oldest: string | undefined = until;
  return {
    async readPage(limit: number): Promise<ListedEvent[]> {
      if (oldest === undefined) return [];
      const page = await table.query({
        partition,
        // `BETWEEN` includes both bounds: the event of the bound is returned again and dropped.
        between: keys.toEventRange([from, oldest]),
        newestFirst: true,
        limit: limit + 1,
        isEventuallyConsistent: true,
      });
      const events = page.map((item) => ({ sortKey: String(item.sk).slice(keys.eventPrefix.length), item }));
      const newEvents = events.filter(({ sortKey }) => sortKey !== oldest);
      oldest = page.length <= limit ? undefined : newEvents.at(-1)?.sortKey;
      return newEvents;
    },
    /** Whether unread events of the shard can be newer than the sort key. */
    canHaveEventAfter: (sortKey: string): boolean => oldest !== undefined && oldest > sortKey,
  };
}
