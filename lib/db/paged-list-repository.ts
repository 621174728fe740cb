import type { EpochMillis } from '../shared/time.ts';
import { countRows, findHour, findMonth, type PagePosition } from '../statistics/locate-page.ts';
import type { ListKind } from '../statistics/tally.ts';
import type { CounterRepository } from './counter-repository.ts';
import * as keys from './keys.ts';
import { scanIndex } from './scan-index.ts';
import type { Item, Table } from './table.ts';

/** Rows that began between two moments, the first included; all, where there is none. */
interface CreatedRange {
  readonly startdate?: EpochMillis | undefined;
  readonly enddate?: EpochMillis | undefined;
}

interface PageRequest extends CreatedRange {
  readonly skip: number;
  readonly limit: number;
  readonly now: EpochMillis;
}

/** A part of a list. */
interface Page {
  /** In the order of the list: oldest first. */
  readonly items: readonly Item[];
  readonly total: number;
}

/** Lists of purchases, transactions and customers, in the order in which their rows began. */
export interface PagedListRepository {
  /** Costs about the same wherever `skip` leads: see docs/decisions/0008-offset-paging.md. */
  getPage(appName: string, collection: ListKind, asked: PageRequest): Promise<Page>;
  /** The keys of all purchases that changed between two moments, the first included; at most of the first 10,000. */
  listUpdatedPurchaseKeys(appName: string, range: CreatedRange): Promise<readonly keys.Key[]>;
  /** What the keys lead to, in their order. */
  loadItems(wanted: readonly keys.Key[]): Promise<readonly Item[]>;
  /** All purchases that changed since then, in portions; one that changes meanwhile may come twice. */
  scanPurchasesUpdatedSince(appName: string, startdate: EpochMillis): AsyncIterable<Item[]>;
}

/** The stream is counted within seconds; what began before this is counted for good. */
const counterLagMs = 60 * 60 * 1000;
const maxUpdatedRows = 10_000;

export function createPagedListRepository(table: Table, counters: CounterRepository): PagedListRepository {
  return {
    async getPage(appName, collection, asked) {
      if (isEmpty(asked)) return { items: [], total: 0 };
      const list: ListContext = {
        table,
        appName,
        collection,
        counters,
        months: await counters.listMonths(appName),
      };
      const { startdate = 0, enddate, skip, limit, now } = asked;
      const settled = now - counterLagMs;
      const rowsBefore = startdate > 0 ? await countRowsBefore(list, startdate, settled) : 0;
      const beginning = { from: startdate, rowsBefore };
      const until = Math.min(settled, (enddate ?? Infinity) - 1);
      const place =
        skip === 0
          ? beginning
          : chooseLaterPosition(beginning, await findPosition(list, { skip: rowsBefore + skip, until }));
      const rest = rowsBefore + skip - place.rowsBefore;
      const entries = await queryCreated(list, { startdate: place.from, enddate }, rest + limit);
      const seen = place.rowsBefore - rowsBefore + entries.length;
      const items = await loadItems(table, toUniqueKeys(entries.slice(rest)));
      if (entries.length < rest + limit) return { items, total: seen };
      const counted =
        enddate === undefined ? countRows(list.months, collection) : await countRowsBefore(list, enddate, settled);
      return { items, total: Math.max(seen, counted - rowsBefore) };
    },
    async listUpdatedPurchaseKeys(appName, range) {
      if (isEmpty(range)) return [];
      const partition = keys.updatedPartition(appName);
      const between = keys.timestampRange(range);
      return toUniqueKeys(await table.query({ partition, index: 'byKey', between, limit: maxUpdatedRows }));
    },
    loadItems: async (wanted) => await loadItems(table, wanted),
    async *scanPurchasesUpdatedSince(appName, startdate) {
      const [partition, between] = [keys.updatedPartition(appName), keys.timestampRange({ startdate })];
      for await (const entries of scanIndex(table, { partition, index: 'byKey', between })) {
        yield await loadItems(table, toUniqueKeys(entries));
      }
    },
  };
}

interface ListContext {
  readonly table: Table;
  readonly appName: string;
  readonly collection: ListKind;
  readonly counters: CounterRepository;
  readonly months: Awaited<ReturnType<CounterRepository['listMonths']>>;
}

const isEmpty = ({ startdate = 0, enddate = Infinity }: CreatedRange): boolean => enddate <= startdate;

const chooseLaterPosition = (one: PagePosition, other: PagePosition): PagePosition =>
  other.from > one.from ? other : one;

/** The place from which to read on to the row at `skip`; it begins at or before `until`. */
async function findPosition(
  { appName, collection, counters, months }: ListContext,
  { skip, until }: { readonly skip: number; readonly until: EpochMillis },
): Promise<PagePosition> {
  const at = { skip, settled: until };
  const found = findMonth(months, collection, at);
  if (!found) return { from: 0, rowsBefore: 0 };
  const { month } = found;
  return findHour(await counters.listDays(appName, `${month}-01`, `${month}-31`), collection, { ...at, ...found });
}

/** How many rows began before a moment. */
async function countRowsBefore(list: ListContext, moment: EpochMillis, settled: EpochMillis): Promise<number> {
  const place = await findPosition(list, { skip: Infinity, until: Math.min(settled, moment - 1) });
  return place.rowsBefore + (await queryCreated(list, { startdate: place.from, enddate: moment })).length;
}

async function queryCreated(
  { table, appName, collection }: ListContext,
  range: CreatedRange,
  limit?: number,
): Promise<Item[]> {
  return await table.query({
    partition: keys.listPartition(appName, collection),
    index: 'byCreated',
    between: keys.timestampRange(range),
    ...(limit !== undefined && { limit }),
  });
}

/** The keys of index entries, each once: a row that moves while a list is read is met twice. */
const toUniqueKeys = (entries: readonly Item[]): keys.Key[] => [
  ...new Map(
    entries.map(({ pk, sk }): [string, keys.Key] => [`${pk}\n${sk}`, { pk: String(pk), sk: String(sk) }]),
  ).values(),
];

async function loadItems(table: Table, wanted: readonly keys.Key[]): Promise<Item[]> {
  const items = await table.batchGet(wanted, { isEventuallyConsistent: true });
  // The index may know a row that a replica of the table does not know yet.
  return items.length === wanted.length ? items : await table.batchGet(wanted);
}
