import type { EventRange } from '../events/event-repository.ts';
import * as keys from './keys.ts';
import type { Item, Table } from './table.ts';

interface EventPage extends EventRange {
  readonly skip: number;
  readonly limit: number;
  /** Selects events with a lower sort key. */
  readonly before?: string | undefined;
}

/** An event item, or the index entry of an event of an earlier version. */
interface ListedEvent {
  /** `<date>#<eventId>`. */
  readonly sortKey: string;
  readonly item: Item;
}

interface LoadedEvent {
  readonly sortKey: string;
  /** Undefined if the event of an index entry does not exist. */
  readonly item: Item | undefined;
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
): Promise<LoadedEvent[]> {
  const range = keys.timestampRange(dates, before);
  const count = skip + limit;
  if (count === 0 || range[0] > range[1]) return [];
  const partitions = keys.eventPartitions(appName);
  const pageSize = computeShardLimit(count, partitions.length);
  let openShards = [
    ...partitions.map((partition) => createShardReader(table, { partition, range })),
    ...keys
      .earlierEventPartitions(appName)
      .map((partition) => createShardReader(table, { partition, range, index: 'byCreated' })),
  ];
  let newest: ListedEvent[] = [];
  while (openShards.length > 0) {
    const pages = await Promise.all(openShards.map((shard) => shard.readPage(pageSize)));
    newest = [...newest, ...pages.flat()].sort(byDescendingDate).slice(0, count);
    const oldestOfNewest = newest.length < count ? '' : (newest.at(-1)?.sortKey ?? '');
    openShards = openShards.filter((shard) => shard.canHaveEventAfter(oldestOfNewest));
  }
  return await loadIndexed(table, newest.slice(skip));
}

/** Loads the events of the index entries, which contain only keys. */
async function loadIndexed(table: Table, events: readonly ListedEvent[]): Promise<LoadedEvent[]> {
  const isEntry = ({ createdSk }: Item): boolean => createdSk !== undefined;
  const entries = events.map(({ item }) => item).filter(isEntry);
  const loaded = await table.batchGet(entries.map(keys.toKey), { isEventuallyConsistent: true });
  const itemsByPk = new Map(loaded.map((item) => [item.pk, item]));
  return events.map(({ sortKey, item }) => ({ sortKey, item: isEntry(item) ? itemsByPk.get(item.pk) : item }));
}

/** Returns the expected number of the newest `count` events in a shard plus three standard deviations. */
const computeShardLimit = (count: number, shards: number): number =>
  Math.min(count, Math.ceil(count / shards + 3 * Math.sqrt(count / shards)));

const byDescendingDate = (a: ListedEvent, b: ListedEvent): number => (a.sortKey < b.sortKey ? 1 : -1);

interface Shard {
  readonly partition: string;
  readonly range: readonly [from: string, until: string];
  /** Set for the events of earlier versions. */
  readonly index?: 'byCreated';
}

function createShardReader(table: Table, { partition, range: [from, until], index }: Shard) {
  /** The oldest sort key that has been read. Undefined once the shard is exhausted. */
  let oldest: string | undefined = until;
  const toSortKey = ({ sk, createdSk }: Item): string =>
    index ? String(createdSk) : String(sk).slice(keys.eventPrefix.length);
  return {
    async readPage(limit: number): Promise<ListedEvent[]> {
      if (oldest === undefined) return [];
      const page = await table.query({
        partition,
        // `BETWEEN` includes both bounds: the event of the bound is returned again and dropped.
        between: index ? [from, oldest] : keys.toEventRange([from, oldest]),
        ...(index && { index }),
        newestFirst: true,
        limit: limit + 1,
        isEventuallyConsistent: true,
      });
      const events = page.map((item) => ({ sortKey: toSortKey(item), item }));
      const newEvents = events.filter(({ sortKey }) => sortKey !== oldest);
      oldest = page.length <= limit ? undefined : newEvents.at(-1)?.sortKey;
      return newEvents;
    },
    /** Whether unread events of the shard can be newer than the sort key. */
    canHaveEventAfter: (sortKey: string): boolean => oldest !== undefined && oldest > sortKey,
  };
}
