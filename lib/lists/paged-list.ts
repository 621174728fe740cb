import { type Key, timestampRange, toKey } from '../foundation/key.ts';
import type { ListKind } from '../foundation/keys.ts';
import * as keys from '../foundation/keys.ts';
import type { DateRange, PageRequest, RowSearch } from '../foundation/list-page.ts';
import { queryShards, scanShards } from '../foundation/merge-shards.ts';
import type { CursorPage } from '../foundation/read-cursor-page.ts';
import type { Service } from '../foundation/service.ts';
import type { Item, Table } from '../foundation/table.ts';
import { type EpochMillis, hourMs } from '../foundation/time.ts';
import { addKeyTimes } from '../purchases/purchase-item.ts';
import { type CounterPeriod, listCounterDays, listCounterMonths } from '../statistics/counter-table.ts';
import { findRows, type SearchedList } from './find-rows.ts';
import { countRows, findHour, findMonth, type PagePosition } from './locate-page.ts';

/** A page of a list. */
interface ItemPage {
  /** In creation order, oldest first. */
  readonly items: readonly Item[];
  readonly total: number;
}

/** The aggregator counts the stream within seconds; counts of rows older than this are final. */
const counterLagMs = hourMs;

/** Only counts older than that decide a position, so a replica that lags by seconds has them. */
const pageCounters = { isEventuallyConsistent: true } as const;
const maxUpdatedRows = 10_000;

/** The cost does not depend on `skip`: see docs/decisions/lists.md. */
export async function getItemPage(
  service: Service,
  appName: string,
  collection: ListKind,
  request: PageRequest,
): Promise<ItemPage> {
  if (isEmpty(request)) return { items: [], total: 0 };
  const list: ListContext = {
    service,
    appName,
    collection,
    months: await listCounterMonths(service, appName, pageCounters),
  };
  const { startdate = 0, enddate, skip, limit, now } = request;
  const settledUntil = now - counterLagMs;
  const rowsBeforeRange = startdate > 0 ? await countRowsBefore(list, startdate, settledUntil) : 0;
  const start = { from: startdate, rowsBefore: rowsBeforeRange };
  const until = Math.min(settledUntil, (enddate ?? Infinity) - 1);
  const position =
    skip === 0 ? start : chooseLaterPosition(start, await findPosition(list, { skip: rowsBeforeRange + skip, until }));
  const rowsToSkip = rowsBeforeRange + skip - position.rowsBefore;
  const entries = await queryCreated(list, { startdate: position.from, enddate }, rowsToSkip + limit);
  const rowsRead = position.rowsBefore - rowsBeforeRange + entries.length;
  const items = await loadItems(service.table, toUniqueKeys(entries.slice(rowsToSkip)));
  if (entries.length < rowsToSkip + limit) return { items, total: rowsRead };
  const countedRows =
    enddate === undefined ? countRows(list.months, collection) : await countRowsBefore(list, enddate, settledUntil);
  return { items, total: Math.max(rowsRead, countedRows - rowsBeforeRange) };
}

/** Finds the rows that match. `parseItem` converts an item to a row. */
export async function findListRows<Row>(
  { table }: Service,
  appName: string,
  collection: 'transactions' | 'customers',
  { search, parseItem }: { readonly search: RowSearch<Row> } & Pick<SearchedList<Row>, 'parseItem'>,
): Promise<CursorPage<Row>> {
  return await findRows({ table, appName, collection, parseItem }, search);
}

/** Lists the keys of the purchases changed in the range, by time of the change. At most 10,000. */
export async function listUpdatedPurchaseKeys(
  { table }: Service,
  appName: string,
  range: DateRange,
): Promise<readonly Key[]> {
  if (isEmpty(range)) return [];
  return toUniqueKeys(await queryShards(table, buildUpdatedRange(appName, range), maxUpdatedRows));
}

/** Returns the items that exist, in the order of the keys. */
export async function loadListedItems({ table }: Service, itemKeys: readonly Key[]): Promise<readonly Item[]> {
  return await loadItems(table, itemKeys);
}

/**
 * Scans the purchases changed since `startdate`, in batches. A purchase that changes during the scan can be repeated.
 */
export async function* scanUpdatedPurchaseItems(
  { table }: Service,
  appName: string,
  startdate: EpochMillis,
): AsyncIterable<Item[]> {
  for await (const entries of scanShards(table, buildUpdatedRange(appName, { startdate }))) {
    yield (await loadItems(table, toUniqueKeys(entries))).map(addKeyTimes);
  }
}

const buildUpdatedRange = (appName: string, range: DateRange) =>
  ({
    partitions: keys.updatedPurchaseList.partitions(appName),
    index: 'byKey',
    between: timestampRange(range),
  }) as const;

interface ListContext {
  readonly service: Service;
  readonly appName: string;
  readonly collection: ListKind;
  readonly months: readonly CounterPeriod[];
}

const isEmpty = ({ startdate = 0, enddate = Infinity }: DateRange): boolean => enddate <= startdate;

const chooseLaterPosition = (a: PagePosition, b: PagePosition): PagePosition => (b.from > a.from ? b : a);

/** Returns the position from which to read on to the row at `skip`. It starts at or before `until`. */
async function findPosition(
  { service, appName, collection, months }: ListContext,
  { skip, until }: { readonly skip: number; readonly until: EpochMillis },
): Promise<PagePosition> {
  const target = { skip, settledUntil: until };
  const monthPosition = findMonth(months, collection, target);
  if (!monthPosition) return { from: 0, rowsBefore: 0 };
  const { month } = monthPosition;
  const days = await listCounterDays(service, appName, { days: [`${month}-01`, `${month}-31`], ...pageCounters });
  return findHour(days, collection, { ...target, ...monthPosition });
}

/** Counts the rows created before the date. */
async function countRowsBefore(list: ListContext, date: EpochMillis, settledUntil: EpochMillis): Promise<number> {
  const position = await findPosition(list, { skip: Infinity, until: Math.min(settledUntil, date - 1) });
  return position.rowsBefore + (await queryCreated(list, { startdate: position.from, enddate: date })).length;
}

async function queryCreated(
  { service: { table }, appName, collection }: ListContext,
  range: DateRange,
  limit?: number,
): Promise<Item[]> {
  const partitions = keys.createdLists[collection].partitions(appName);
  return await queryShards(table, { partitions, index: 'byCreated', between: timestampRange(range) }, limit);
}

/** Returns the distinct keys of index entries: an item that moves during a query can be returned twice. */
const toUniqueKeys = (entries: readonly Item[]): Key[] => [
  ...new Map(entries.map((entry): [string, Key] => [`${entry.pk}\n${entry.sk}`, toKey(entry)])).values(),
];

async function loadItems(table: Table, itemKeys: readonly Key[]): Promise<Item[]> {
  const items = await table.batchGet(itemKeys, { isEventuallyConsistent: true });
  // The index can contain an item that the replica behind an eventually consistent read does not have yet.
  return items.length === itemKeys.length ? items : await table.batchGet(itemKeys);
}
