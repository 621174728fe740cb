import type { Millis } from '../purchases/purchase.ts';
import { hourAt, monthAt, type Place, totalOf } from '../stats/locate.ts';
import type { Collection } from '../stats/tally.ts';
import type { Counters } from './counters.ts';
import * as keys from './keys.ts';
import type { Item, Table } from './table.ts';

interface Rows {
  readonly skip: number;
  readonly limit: number;
}

/** A part of a list. */
export interface Page {
  /** In the order of the list: oldest first. */
  readonly items: readonly Item[];
  readonly total: number;
}

/** Lists of purchases, transactions and customers, in the order in which their rows began. */
export interface Lists {
  /** Costs about the same wherever `skip` leads: see docs/decisions/0008-offset-paging.md. */
  page(app: string, collection: Collection, rows: Rows & { readonly now: Millis }): Promise<Page>;
  /** The rows that began between two moments, the first included. */
  between(app: string, collection: Collection, range: Rows & Between): Promise<Page>;
  /** All purchases that changed between two moments, the first included; at most the first 10,000. */
  updated(app: string, range: Between): Promise<Item[]>;
}

export interface Between {
  readonly startdate: Millis | undefined;
  readonly enddate: Millis | undefined;
}

/** The stream is counted within seconds; what began before this is counted for good. */
const settlesMs = 60 * 60 * 1000;
const mostUpdated = 10_000;

export function listsOf(table: Table, counters: Counters): Lists {
  const items = async (entries: readonly Item[]): Promise<Item[]> =>
    await table.batchGet(
      entries.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) })),
      { eventually: true },
    );
  return {
    async page(app, collection, { skip, limit, now }) {
      const months = await counters.months(app);
      const place = await placeOf({ app, collection, counters, months }, { skip, settled: now - settlesMs });
      const rest = skip - (place?.before ?? 0);
      const entries = await table.query({
        partition: keys.listPartition(app, collection),
        index: 'byCreated',
        ...(place && { from: keys.momentKey(place.from) }),
        limit: rest + limit,
      });
      const total = Math.max(totalOf(months, collection), (place?.before ?? 0) + entries.length);
      return { items: await items(entries.slice(rest)), total };
    },
    async between(app, collection, { skip, limit, ...range }) {
      const partition = keys.listPartition(app, collection);
      const entries = await table.query({ partition, index: 'byCreated', between: keys.momentsBetween(range) });
      return { items: await items(entries.slice(skip, skip + limit)), total: entries.length };
    },
    async updated(app, range) {
      const partition = keys.updatedPartition(app);
      const between = keys.momentsBetween(range);
      return await items(await table.query({ partition, index: 'byKey', between, limit: mostUpdated }));
    },
  };
}

interface Listed {
  readonly app: string;
  readonly collection: Collection;
  readonly counters: Counters;
  readonly months: Awaited<ReturnType<Counters['months']>>;
}

async function placeOf(
  { app, collection, counters, months }: Listed,
  at: { readonly skip: number; readonly settled: Millis },
): Promise<Place | undefined> {
  if (at.skip === 0) return undefined;
  const found = monthAt(months, collection, at);
  if (!found) return undefined;
  const { month } = found;
  return hourAt(await counters.days(app, `${month}-01`, `${month}-31`), collection, { ...at, ...found });
}
