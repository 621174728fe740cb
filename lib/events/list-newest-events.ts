import { timestampRange } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { queryShards } from '../foundation/merge-shards.ts';
import type { Item, Table } from '../foundation/table.ts';
import type { EpochMillis } from '../foundation/time.ts';

/** A range of events: from `startdate` (included) to `enddate` (excluded). */
export interface EventRange {
  readonly startdate?: EpochMillis | undefined;
  readonly enddate?: EpochMillis | undefined;
}

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
 * Returns the items of the newest `limit` events after the first `skip`, newest first. Reads about 1.3 times as many
 * events as it returns and skips.
 */
export async function listNewestEventItems(
  table: Table,
  appName: string,
  { skip, limit, before, ...dates }: EventPage,
): Promise<ListedEvent[]> {
  const range = timestampRange(dates, before);
  const count = skip + limit;
  if (count === 0 || range[0] > range[1]) return [];
  const items = await queryShards(
    table,
    {
      partitions: keys.eventPartitions(appName),
      between: keys.toEventRange(range),
      newestFirst: true,
      isEventuallyConsistent: true,
    },
    count + 1,
  );
  // `BETWEEN` includes both bounds: the event of the bound is returned again and dropped.
  return items
    .map((item) => ({ sortKey: String(item.sk).slice(keys.eventItemKey.sortKey().length), item }))
    .filter(({ sortKey }) => sortKey !== range[1])
    .slice(skip, count);
}
