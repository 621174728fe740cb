import type { EpochMillis } from '../shared/time.ts';
import * as keys from './keys.ts';
import type { Table } from './table.ts';

/** Which events of an application: from a moment on (included), before a moment (excluded). */
export interface EventRange {
  readonly startdate?: EpochMillis;
  readonly enddate?: EpochMillis;
}

interface IndexEntry {
  readonly pk: string;
  readonly createdSk: string;
}

/**
 * The keys of the newest `count` events, newest first. Events are spread evenly over the shards, so each is asked for its
 * share and a little more, and only a shard that may hold more of them is asked again: about 1.3 times `count` entries of
 * the index are read, not 8 times.
 */
export async function listNewestEventKeys(
  table: Table,
  appName: string,
  { count, startdate, enddate }: EventRange & { readonly count: number },
): Promise<keys.Key[]> {
  const [from, until] = keys.timestampRange({ startdate, enddate });
  if (count === 0 || from > until) return [];
  const partitions = keys.eventPartitions(appName);
  const share = computeShardLimit(count, partitions.length);
  const shards = partitions.map((partition) => createShardReader(table, partition, { from, until }));
  let open = shards;
  let newest: IndexEntry[] = [];
  while (open.length > 0) {
    const pages = await Promise.all(open.map((shard) => shard.next(share)));
    newest = [...newest, ...pages.flat()].sort(byDescendingDate).slice(0, count);
    const last = newest.length < count ? '' : (newest.at(-1)?.createdSk ?? '');
    open = open.filter((shard) => shard.reachesBefore(last));
  }
  return newest.map(({ pk }) => ({ pk, sk: 'E' }));
}

/** The mean of what a shard holds of the newest `count`, and three standard deviations. */
const computeShardLimit = (count: number, shards: number): number =>
  Math.min(count, Math.ceil(count / shards + 3 * Math.sqrt(count / shards)));

const byDescendingDate = (a: IndexEntry, b: IndexEntry): number => (a.createdSk < b.createdSk ? 1 : -1);

function createShardReader(table: Table, partition: string, { from, until }: { from: string; until: string }) {
  /** The oldest sort key that was read; undefined when the shard has no more. */
  let oldest: string | undefined = until;
  return {
    async next(limit: number): Promise<IndexEntry[]> {
      if (oldest === undefined) return [];
      const page = await table.query({
        partition,
        index: 'byCreated',
        // A query knows only bounds that are included: the entry of the bound comes again and is dropped.
        between: [from, oldest],
        newestFirst: true,
        limit: limit + 1,
      });
      const entries = page.map(({ pk, createdSk }) => ({ pk: String(pk), createdSk: String(createdSk) }));
      const fresh = entries.filter(({ createdSk }) => createdSk !== oldest);
      oldest = page.length <= limit ? undefined : fresh.at(-1)?.createdSk;
      return fresh;
    },
    /** Whether it may hold an entry newer than the sort key. */
    reachesBefore: (last: string): boolean => oldest !== undefined && oldest > last,
  };
}
