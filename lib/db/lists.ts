import type { Millis } from '../purchases/purchase.ts';
import { hourAt, monthAt, type Place, totalOf } from '../stats/locate.ts';
import type { Collection } from '../stats/tally.ts';
import type { Counters } from './counters.ts';
import { entriesOf } from './index-entries.ts';
import * as keys from './keys.ts';
import type { Item, Table } from './table.ts';

/** Rows that began between two moments, the first included; all, where there is none. */
interface Between {
  readonly startdate?: Millis | undefined;
  readonly enddate?: Millis | undefined;
}

interface Asked extends Between {
  readonly skip: number;
  readonly limit: number;
  readonly now: Millis;
}

/** A part of a list. */
interface Page {
  /** In the order of the list: oldest first. */
  readonly items: readonly Item[];
  readonly total: number;
}

/** Lists of purchases, transactions and customers, in the order in which their rows began. */
export interface Lists {
  /** Costs about the same wherever `skip` leads: see docs/decisions/0008-offset-paging.md. */
  page(app: string, collection: Collection, asked: Asked): Promise<Page>;
  /** The keys of all purchases that changed between two moments, the first included; at most of the first 10,000. */
  updated(app: string, range: Between): Promise<readonly keys.Key[]>;
  /** What the keys lead to, in their order. */
  items(wanted: readonly keys.Key[]): Promise<readonly Item[]>;
  /** All purchases that changed since then, in portions; one that changes meanwhile may come twice. */
  updatedSince(app: string, startdate: Millis): AsyncIterable<Item[]>;
}

/** The stream is counted within seconds; what began before this is counted for good. */
const settlesMs = 60 * 60 * 1000;
const mostUpdated = 10_000;

export function listsOf(table: Table, counters: Counters): Lists {
  return {
    async page(app, collection, asked) {
      if (isEmpty(asked)) return { items: [], total: 0 };
      const list: List = { table, app, collection, counters, months: await counters.months(app) };
      const { startdate = 0, enddate, skip, limit, now } = asked;
      const settled = now - settlesMs;
      const before = startdate > 0 ? await rowsBefore(list, startdate, settled) : 0;
      const beginning = { from: startdate, before };
      const until = Math.min(settled, (enddate ?? Infinity) - 1);
      const place = skip === 0 ? beginning : later(beginning, await placeOf(list, { skip: before + skip, until }));
      const rest = before + skip - place.before;
      const entries = await beganIn(list, { startdate: place.from, enddate }, rest + limit);
      const seen = place.before - before + entries.length;
      const items = await itemsOf(table, keysOf(entries.slice(rest)));
      if (entries.length < rest + limit) return { items, total: seen };
      const counted =
        enddate === undefined ? totalOf(list.months, collection) : await rowsBefore(list, enddate, settled);
      return { items, total: Math.max(seen, counted - before) };
    },
    async updated(app, range) {
      if (isEmpty(range)) return [];
      const partition = keys.updatedPartition(app);
      const between = keys.momentsBetween(range);
      return keysOf(await table.query({ partition, index: 'byKey', between, limit: mostUpdated }));
    },
    items: async (wanted) => await itemsOf(table, wanted),
    async *updatedSince(app, startdate) {
      const [partition, between] = [keys.updatedPartition(app), keys.momentsBetween({ startdate })];
      for await (const entries of entriesOf(table, { partition, index: 'byKey', between })) {
        yield await itemsOf(table, keysOf(entries));
      }
    },
  };
}

interface List {
  readonly table: Table;
  readonly app: string;
  readonly collection: Collection;
  readonly counters: Counters;
  readonly months: Awaited<ReturnType<Counters['months']>>;
}

const isEmpty = ({ startdate = 0, enddate = Infinity }: Between): boolean => enddate <= startdate;

const later = (one: Place, other: Place): Place => (other.from > one.from ? other : one);

/** The place from which to read on to the row at `skip`; it begins at or before `until`. */
async function placeOf(
  { app, collection, counters, months }: List,
  { skip, until }: { readonly skip: number; readonly until: Millis },
): Promise<Place> {
  const at = { skip, settled: until };
  const found = monthAt(months, collection, at);
  if (!found) return { from: 0, before: 0 };
  const { month } = found;
  return hourAt(await counters.days(app, `${month}-01`, `${month}-31`), collection, { ...at, ...found });
}

/** How many rows began before a moment. */
async function rowsBefore(list: List, moment: Millis, settled: Millis): Promise<number> {
  const place = await placeOf(list, { skip: Infinity, until: Math.min(settled, moment - 1) });
  return place.before + (await beganIn(list, { startdate: place.from, enddate: moment })).length;
}

async function beganIn({ table, app, collection }: List, range: Between, limit?: number): Promise<Item[]> {
  return await table.query({
    partition: keys.listPartition(app, collection),
    index: 'byCreated',
    between: keys.momentsBetween(range),
    ...(limit !== undefined && { limit }),
  });
}

/** The keys of index entries, each once: a row that moves while a list is read is met twice. */
const keysOf = (entries: readonly Item[]): keys.Key[] => [
  ...new Map(
    entries.map(({ pk, sk }): [string, keys.Key] => [`${pk}\n${sk}`, { pk: String(pk), sk: String(sk) }]),
  ).values(),
];

async function itemsOf(table: Table, wanted: readonly keys.Key[]): Promise<Item[]> {
  const items = await table.batchGet(wanted, { eventually: true });
  // The index may know a row that a replica of the table does not know yet.
  return items.length === wanted.length ? items : await table.batchGet(wanted);
}
