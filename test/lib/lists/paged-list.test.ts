import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { getService } from '../../../lib/foundation/get-service.ts';
import { toKey } from '../../../lib/foundation/key.ts';
import type { ListKind } from '../../../lib/foundation/keys.ts';
import * as keys from '../../../lib/foundation/keys.ts';
import type { PageRequest } from '../../../lib/foundation/list-page.ts';
import { createTableClient, type Item, type Table } from '../../../lib/foundation/table.ts';
import { dayMs, hourMs, minuteMs } from '../../../lib/foundation/time.ts';
import { getItemPage } from '../../../lib/lists/paged-list.ts';
import { aggregateStreamRecords } from '../../../lib/statistics/aggregate-stream.ts';
import { createService } from '../../../testing/create-service.ts';
import { createObservation, createTransaction, createUniqueName, startDate } from '../../../testing/given.ts';
import { insertDuringQueries } from '../../../testing/insert-during-queries.ts';
import { sampleRuns } from '../../../testing/sample.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { buildStreamRecord } from '../../../testing/stream-records.ts';
import { createTestTable } from '../../../testing/table.ts';

const table = startBeforeAll(createTestTable);

interface Row {
  readonly id: string;
  readonly date: number;
}

/** Builds the attributes of an item that lists and counters read. */
function buildItem(appName: string, collection: ListKind, { id, date }: Row): Item {
  if (collection === 'customers')
    return {
      ...keys.customerKey(appName, id),
      ...keys.customerIndexKeys(appName, id, date),
      username: id,
      createdAt: date,
    };
  if (collection === 'purchases') {
    const dates = { createdAt: date, updatedAt: date };
    const indexed = keys.purchaseIndexKeys(appName, id, dates);
    const { purchase } = createObservation({ purchaseId: id });
    return {
      ...keys.purchaseKey(appName, id),
      ...indexed,
      ...dates,
      purchase,
      checkedAt: date,
      version: 1,
      entitledUsers: [],
    };
  }
  const transaction = createTransaction(createObservation({ purchaseId: id, transactionId: id }).purchase, {
    purchaseDate: date,
  });
  return {
    ...keys.transactionKey(appName, id, id),
    ...keys.transactionIndexKeys(appName, id, transaction),
    transaction,
  };
}

const getId = ({ username, pk }: Item): string => String(username ?? String(pk).split('#')[2]);
const sortRows = (rows: readonly Row[]): Row[] => rows.toSorted((a, b) => a.date - b.date || (a.id < b.id ? -1 : 1));
const getIds = (rows: readonly Row[]): string[] => rows.map(({ id }) => id);

const shards = ['shard-0', 'shard-1', 'shard-2'] as const;

/** Creates a list with its own app. Rows are written immediately and counted when the test calls `count`. */
function createList(collection: ListKind) {
  const appName = createUniqueName();
  const uncounted = shards.map((): { date: number; record: ReturnType<typeof buildStreamRecord> }[] => []);
  let position = 0;
  return {
    async put(rows: readonly Row[]) {
      const items = rows.map((row) => buildItem(appName, collection, row));
      await table.batchPut(items);
      rows.forEach(({ date }, index) => {
        const record = buildStreamRecord({ after: items[index] as Item }, position);
        uncounted[position++ % shards.length]?.push({ date, record });
      });
    },
    /** Counts each shard up to its last record created before `before`, and at least `minRecords` of the shard. */
    async count(before = Infinity, minRecords: readonly number[] = []) {
      for (const [index, shard] of shards.entries()) {
        const records = uncounted[index] ?? [];
        const recordsBefore = records.findLastIndex(({ date }) => date < before) + 1;
        const batch = records.splice(0, Math.max(recordsBefore, minRecords[index] ?? 0));
        await aggregateStreamRecords(
          getService(),
          batch.map(({ record }) => record),
          shard,
        );
      }
    },
    appName,
    async getPage(request: PageRequest) {
      const { items, total } = await getItemPage(getService(), appName, collection, request);
      return { ids: items.map(getId), total };
    },
  };
}

/** Builds an entry of the row in a list of one partition. */
const toUnshardedItem = (appName: string, { id, date }: Row): Item => ({
  pk: `${appName}#C#unsharded-${id}`,
  sk: 'C',
  createdPk: `${appName}#C`,
  createdSk: `${date}#${id}`,
});

/** Reads a page of customers, and the entries of the same page in the list of one partition. */
async function measurePage(appName: string, request: PageRequest) {
  const client = createTableClient(table.name);
  const measure = async <T>(run: () => Promise<T>) => {
    const before = client.consumed.read;
    return { result: await run(), units: client.consumed.read - before };
  };
  const entries: Item[] = [];
  const queries: { between: readonly [string, string] }[] = [];
  let savedUnits = 0;
  const recording: Table = {
    ...client,
    async query(range) {
      const before = client.consumed.read;
      const items = await client.query(range);
      if (range.index === undefined && range.isEventuallyConsistent) savedUnits += client.consumed.read - before;
      if (range.index === 'byCreated') {
        entries.push(...items);
        queries.push({ between: range.between ?? ['', ''] });
      }
      return items;
    },
  };
  const { result, units } = await measure(
    async () => await getItemPage(createService(recording), appName, 'customers', request),
  );
  const sortKeys = entries.map(({ createdSk }) => String(createdSk)).sort();
  const [first] = result.items;
  const rowsToSkip = first ? sortKeys.indexOf(String(first.createdSk)) : sortKeys.length;
  const between = queries[0]?.between ?? ['', ''];
  const partition = `${appName}#C`;
  const { units: indexUnits } = await measure(
    async () => await client.query({ partition, index: 'byCreated', between, limit: rowsToSkip + request.limit }),
  );
  const { units: itemUnits } = await measure(
    async () => await client.batchGet(result.items.map(toKey), { isEventuallyConsistent: true }),
  );
  const shardCount = keys.createdLists.customers.partitions(appName).length;
  return {
    units,
    // A consistent read costs twice as much.
    unshardedUnits: 2 * savedUnits + indexUnits + itemUnits,
    furtherQueries: queries.length - shardCount,
  };
}

const collections = fc.constantFrom<ListKind>('purchases', 'transactions', 'customers');

/** Dates in few hours, many of them at the start or end of an hour. */
const anyDate = fc
  .tuple(
    fc.integer({ min: 0, max: 100 }),
    fc.integer({ min: 0, max: 23 }),
    fc.constantFrom(0, 1, 1_800_000, hourMs - 1),
  )
  .map(([days, hours, rest]) => startDate + days * dayMs + hours * hourMs + rest);
const anyRows = fc.array(fc.tuple(fc.nat(6), anyDate), { maxLength: 60 }).map((dates) => {
  const crowded = dates.map(([which, date]) => (which < 4 ? (dates[which]?.[1] ?? date) : date));
  return crowded.map((date, index): Row => ({ id: `store_a:${index}`, date }));
});
const anyPages = fc.array(fc.record({ skip: fc.nat(70), limit: fc.integer({ min: 1, max: 40 }) }), {
  minLength: 1,
  maxLength: 5,
});
const anyNow = fc.oneof(fc.constant(startDate + 400 * dayMs), anyDate);

describe('getItemPage', () => {
  it('returns the rows of the page and the exact total', async () => {
    await fc.assert(
      fc.asyncProperty(collections, anyRows, anyPages, anyNow, async (collection, rows, pages, now) => {
        const list = createList(collection);
        await list.put(rows);
        await list.count();
        for (const { skip, limit } of pages) {
          const ids = getIds(sortRows(rows)).slice(skip, skip + limit);
          expect(await list.getPage({ skip, limit, now })).toEqual({ ids, total: rows.length });
        }
      }),
      sampleRuns({ sample: 4, full: 100 }),
    );
  });

  it('returns the rows of a date range and their exact number', async () => {
    const anyBound = fc.option(anyDate, { nil: undefined });
    await fc.assert(
      fc.asyncProperty(anyRows, anyPages, anyBound, anyBound, async (rows, pages, startdate, enddate) => {
        const list = createList('transactions');
        await list.put(rows);
        await list.count();
        const inRange = sortRows(rows).filter(
          ({ date }) => date >= (startdate ?? -Infinity) && date < (enddate ?? Infinity),
        );
        for (const { skip, limit } of pages) {
          const ids = getIds(inRange).slice(skip, skip + limit);
          const request = { skip, limit, startdate, enddate, now: startDate + 400 * dayMs };
          expect(await list.getPage(request)).toEqual({ ids, total: inRange.length });
        }
      }),
      sampleRuns({ sample: 4, full: 100 }),
    );
  });

  it('returns the rows of the page while older rows are added', async () => {
    // Transactions with an old date, and rows of concurrent writers within the last hours.
    const anyArrival = fc.record({
      date: anyDate,
      agoMs: fc.integer({ min: 0, max: 3 * hourMs }),
      isOld: fc.boolean(),
    });
    const anyTurn = fc.record({
      passMs: fc.integer({ min: 0, max: 40 * minuteMs }),
      arrive: fc.array(anyArrival, { maxLength: 6 }),
      counted: fc.array(fc.nat(2), { minLength: 3, maxLength: 3 }),
      pages: anyPages,
    });
    await fc.assert(
      fc.asyncProperty(
        collections,
        anyRows,
        fc.array(anyTurn, { minLength: 3, maxLength: 10 }),
        async (collection, past, turns) => {
          const list = createList(collection);
          await list.put(past);
          await list.count();
          let now = startDate + 102 * dayMs;
          const rows = [...past];
          for (const { passMs, arrive, counted, pages } of turns) {
            now += passMs;
            const late = arrive.map(({ date, agoMs, isOld }, index): Row => {
              return { id: `store_a:late-${rows.length + index}`, date: isOld ? date : now - agoMs };
            });
            await list.put(late);
            rows.push(...late);
            await list.count(now - hourMs, counted);
            for (const { skip, limit } of pages) {
              const { ids, total } = await list.getPage({ skip, limit, now });
              expect(ids).toEqual(getIds(sortRows(rows)).slice(skip, skip + limit));
              if (ids.length > 0) expect(total).toBeGreaterThanOrEqual(skip + ids.length);
              expect(total).toBeLessThanOrEqual(rows.length);
            }
          }
          await list.count();
          expect((await list.getPage({ skip: 0, limit: 1, now })).total).toBe(rows.length);
        },
      ),
      sampleRuns({ sample: 4, full: 100 }),
    );
  });

  it('returns every row once over all pages while rows are appended and the shards lag differently', async () => {
    const fewRows = anyRows.map((rows) => rows.slice(0, 8));
    const anyTurn = fc.record({
      limit: fc.integer({ min: 1, max: 12 }),
      passMs: fc.integer({ min: 0, max: 40 * minuteMs }),
      arrive: fc.array(fc.integer({ min: 0, max: 20 * minuteMs }), { maxLength: 6 }),
      counted: fc.array(fc.nat(2), { minLength: 3, maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(
        collections,
        fewRows,
        fc.array(anyTurn, { minLength: 5, maxLength: 20 }),
        async (collection, past, turns) => {
          const list = createList(collection);
          await list.put(past);
          await list.count();
          let now = startDate + 101 * dayMs;
          let last = now;
          const rows = [...past];
          const read: string[] = [];
          const readPage = async (limit: number) => {
            const { ids, total } = await list.getPage({ skip: read.length, limit, now });
            expect(total).toBeGreaterThanOrEqual(read.length + ids.length);
            expect(total).toBeLessThanOrEqual(rows.length);
            read.push(...ids);
            return ids.length;
          };
          for (const { limit, passMs, arrive, counted } of turns) {
            now += passMs;
            const newRows = arrive.map((laterMs, index): Row => {
              last = Math.min(now, last + laterMs);
              return { id: `store_a:new-${String(rows.length + index).padStart(5, '0')}`, date: last };
            });
            await list.put(newRows);
            rows.push(...newRows);
            // The shards lag differently, but rows older than one hour have been counted.
            await list.count(now - hourMs, counted);
            await readPage(limit);
          }
          while ((await readPage(10)) > 0);
          expect(read).toEqual(getIds(sortRows(rows)));
          await list.count();
          expect((await list.getPage({ skip: 0, limit: 1, now })).total).toBe(rows.length);
        },
      ),
      sampleRuns({ sample: 4, full: 100 }),
    );
  });

  it('returns the rows at skip exactly while rows are appended to all shards during the reads', async () => {
    const now = startDate + 102 * dayMs;
    const anyAppended = fc.array(fc.integer({ min: 0, max: 59 * minuteMs }), { maxLength: 24 });
    await fc.assert(
      fc.asyncProperty(collections, anyRows, anyPages, anyAppended, async (collection, rows, pages, ages) => {
        const list = createList(collection);
        await list.put(rows);
        await list.count();
        const appended = ages.map((agoMs, index): Row => ({ id: `store_a:new-${index}`, date: now - agoMs }));
        const items = appended.map((row) => buildItem(list.appName, collection, row));
        const changing = insertDuringQueries(table, items);
        const [existing, all] = [getIds(sortRows(rows)), getIds(sortRows([...rows, ...appended]))];
        for (const { skip, limit } of pages) {
          const page = await getItemPage(createService(changing), list.appName, collection, { skip, limit, now });
          const ids = page.items.map(getId);
          const expected = existing.slice(skip, skip + limit);
          expect(ids.slice(0, expected.length)).toEqual(expected);
          // An appended row is in the page if it was written before its shard was read.
          expect(all.slice(existing.length).filter((id) => ids.includes(id))).toEqual(ids.slice(expected.length));
          if (ids.length > 0) expect(page.total).toBeGreaterThanOrEqual(skip + ids.length);
          expect(page.total).toBeLessThanOrEqual(all.length);
        }
      }),
      sampleRuns({ sample: 4, full: 100 }),
    );
  });

  it('costs at most two read units more than a page of one partition with consistent counters', async () => {
    const manyRows = fc.array(anyDate, { minLength: 1, maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(manyRows, anyPages, async (dates, pages) => {
        const list = createList('customers');
        const rows = dates.map((date, index): Row => ({ id: `customer-${index}`, date }));
        await list.put(rows);
        await list.count();
        await table.batchPut(rows.map((row) => toUnshardedItem(list.appName, row)));
        for (const { skip, limit } of pages) {
          const request = { skip, limit, now: startDate + 400 * dayMs };
          const { units, unshardedUnits, furtherQueries } = await measurePage(list.appName, request);
          // A shard with more than its share of the page is queried again.
          expect(units - unshardedUnits).toBeLessThanOrEqual(2 + furtherQueries / 2);
        }
      }),
      sampleRuns({ sample: 3, full: 40 }),
    );
  });

  it('returns no rows for a range that ends before it starts', async () => {
    const list = createList('transactions');
    await list.put([{ id: 'store_a:1', date: startDate }]);
    await list.count();
    const request = { skip: 0, limit: 10, now: startDate + dayMs, startdate: startDate + hourMs, enddate: startDate };
    expect(await list.getPage(request)).toEqual({ ids: [], total: 0 });
  });
});
