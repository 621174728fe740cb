import * as keys from '../foundation/keys.ts';
import { queryShards, scanShards } from '../foundation/merge-shards.ts';
import type { Item, Table } from '../foundation/table.ts';
import type { CursorPage } from '../shared/cursor-page.ts';
import type { DateRange, PageRequest, RowSearch } from '../shared/list-page.ts';
import { type EpochMillis, hourMs } from '../shared/time.ts';
import type { CounterRepository } from '../statistics/counter-repository.ts';
import type { ListKind } from '../statistics/counts.ts';
import { findRows } from './find-rows.ts';
import { countRows, findHour, findMonth, type PagePosition } from './locate-page.ts';
import { addKeyTimes } from './purchase-item.ts';

/** A page of a list. */
interface ItemPage {
  /** In creation order, oldest first. */
  readonly items: readonly Item[];
  readonly total: number;
}

/** The lists of purchases, transactions and customers of all apps, in creation order. */
export interface PagedListRepository {
  /** The cost does not depend on `skip`: see docs/decisions/0008-offset-paging.md. */
  getPage(appName: string, collection: ListKind, request: PageRequest): Promise<ItemPage>;
  /** Finds the rows that match. `parseItem` converts an item to a row. */
  findRows<Row>(
    appName: string,
    collection: 'T' | 'C',
    options: { readonly search: RowSearch<Row>; readonly parseItem: (item: Item) => Row },
  ): Promise<CursorPage<Row>>;
  /** Lists the keys of the purchases changed in the range, by time of the change. At most 10,000. */
  listUpdatedPurchaseKeys(appName: string, range: DateRange): Promise<readonly keys.Key[]>;
  /** Returns the items that exist, in the order of the keys. */
  loadItems(itemKeys: readonly keys.Key[]): Promise<readonly Item[]>;
  /**
   * Scans the purchases changed since `startdate`, in batches. A purchase that changes during the scan can be repeated.
   */
  scanPurchasesUpdatedSince(appName: string, startdate: EpochMillis): AsyncIterable<Item[]>;
}

/** The aggregator counts the stream within seconds; counts of rows older than this are final. */
const counterLagMs = hourMs;
/** Only counts older than that decide a position, so a replica that lags by seconds has them. */
const pageCounters = { isEventuallyConsistent: true } as const;
const maxUpdatedRows = 10_000;

export function createPagedListRepository(table: Table, counters: CounterRepository): PagedListRepository {
  return {
    async getPage(appName, collection, request) {
      if (isEmpty(request)) return { items: [], total: 0 };
      const list: ListContext = {
        table,
        appName,
        collection,
        counters,
        months: await counters.listMonths(appName, undefined, undefined, pageCounters),
      };
      const { startdate = 0, enddate, skip, limit, now } = request;
      const settledUntil = now - counterLagMs;
      const rowsBeforeRange = startdate > 0 ? await countRowsBefore(list, startdate, settledUntil) : 0;
      const start = { from: startdate, rowsBefore: rowsBeforeRange };
      const until = Math.min(settledUntil, (enddate ?? Infinity) - 1);
      const position =
        skip === 0
          ? start
          : chooseLaterPosition(start, await findPosition(list, { skip: rowsBeforeRange + skip, until }));
      const rowsToSkip = rowsBeforeRange + skip - position.rowsBefore;
      const entries = await queryCreated(list, { startdate: position.from, enddate }, rowsToSkip + limit);
      const rowsRead = position.rowsBefore - rowsBeforeRange + entries.length;
      const items = await loadItems(table, toUniqueKeys(entries.slice(rowsToSkip)));
      if (entries.length < rowsToSkip + limit) return { items, total: rowsRead };
      const countedRows =
        enddate === undefined ? countRows(list.months, collection) : await countRowsBefore(list, enddate, settledUntil);
      return { items, total: Math.max(rowsRead, countedRows - rowsBeforeRange) };
    },
    findRows: async (appName, collection, { search, parseItem }) =>
      await findRows({ table, appName, collection, parseItem }, search),
    async listUpdatedPurchaseKeys(appName, range) {
      if (isEmpty(range)) return [];
      return toUniqueKeys(await queryShards(table, buildUpdatedRange(appName, range), maxUpdatedRows));
    },
    loadItems: async (itemKeys) => await loadItems(table, itemKeys),
    async *scanPurchasesUpdatedSince(appName, startdate) {
      for await (const entries of scanShards(table, buildUpdatedRange(appName, { startdate }))) {
        yield (await loadItems(table, toUniqueKeys(entries))).map(addKeyTimes);
      }
    },
  };
}

const buildUpdatedRange = (appName: string, range: DateRange) =>
  ({ partitions: keys.updatedPartitions(appName), index: 'byKey', between: keys.timestampRange(range) }) as const;

interface ListContext {
  readonly table: Table;
  readonly appName: string;
  readonly collection: ListKind;
  readonly counters: CounterRepository;
  readonly months: Awaited<ReturnType<CounterRepository['listMonths']>>;
}

const isEmpty = ({ startdate = 0, enddate = Infinity }: DateRange): boolean => enddate <= startdate;

const chooseLaterPosition = (a: PagePosition, b: PagePosition): PagePosition => (b.from > a.from ? b : a);

/** Returns the position from which to read on to the row at `skip`. It starts at or before `until`. */
async function findPosition(
  { appName, collection, counters, months }: ListContext,
  { skip, until }: { readonly skip: number; readonly until: EpochMillis },
): Promise<PagePosition> {
  const target = { skip, settledUntil: until };
  const monthPosition = findMonth(months, collection, target);
  if (!monthPosition) return { from: 0, rowsBefore: 0 };
  const { month } = monthPosition;
  const days = await counters.listDays(appName, `${month}-01`, `${month}-31`, pageCounters);
  return findHour(days, collection, { ...target, ...monthPosition });
}

/** Counts the rows created before the date. */
async function countRowsBefore(list: ListContext, date: EpochMillis, settledUntil: EpochMillis): Promise<number> {
  const position = await findPosition(list, { skip: Infinity, until: Math.min(settledUntil, date - 1) });
  return position.rowsBefore + (await queryCreated(list, { startdate: position.from, enddate: date })).length;
}

async function queryCreated(
  { table, appName, collection }: ListContext,
  range: DateRange,
  limit?: number,
): Promise<Item[]> {
  const partitions = keys.listPartitions(appName, collection);
  return await queryShards(table, { partitions, index: 'byCreated', between: keys.timestampRange(range) }, limit);
}

/** Returns the distinct keys of index entries: an item that moves during a query can be returned twice. */
const toUniqueKeys = (entries: readonly Item[]): keys.Key[] => [
  ...new Map(entries.map((entry): [string, keys.Key] => [`${entry.pk}\n${entry.sk}`, keys.toKey(entry)])).values(),
];

async function loadItems(table: Table, itemKeys: readonly keys.Key[]): Promise<Item[]> {
  const items = await table.batchGet(itemKeys, { isEventuallyConsistent: true });
  // The index can contain an item that the replica behind an eventually consistent read does not have yet.
  return items.length === itemKeys.length ? items : await table.batchGet(itemKeys);
}
