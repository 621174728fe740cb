import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createCounterRepository } from '../../../lib/db/counter-repository.ts';
import { createCustomerRepository } from '../../../lib/db/customer-repository.ts';
import * as keys from '../../../lib/db/keys.ts';
import { createPagedListRepository, type PagedListRepository } from '../../../lib/db/paged-list-repository.ts';
import type { Item, Table } from '../../../lib/db/table.ts';
import type { Deps } from '../../../lib/deps.ts';
import { aggregateStreamRecords } from '../../../lib/statistics/aggregate-stream.ts';
import type { ListKind } from '../../../lib/statistics/tally.ts';
import { createObservation, createTransaction, createUniqueName, dayMs, startDate } from '../../../testing/given.ts';
import { buildStreamRecord } from '../../../testing/stream-records.ts';
import { createTestTable } from '../../../testing/table.ts';

const hour = 60 * 60 * 1000;
const minute = 60 * 1000;

let table: Table;
let lists: PagedListRepository;
let deps: Deps;
beforeAll(async () => {
  table = await createTestTable();
  const counters = createCounterRepository(table);
  lists = createPagedListRepository(table, counters);
  const purchases = { ownedBy: async () => [] };
  deps = { counters, customers: createCustomerRepository(table), purchases } as unknown as Deps;
});

interface Row {
  readonly id: string;
  readonly date: number;
}

/** The item of a row, as far as lists and counters look at it. */
function itemOf(appName: string, collection: ListKind, { id, date }: Row): Item {
  if (collection === 'C')
    return {
      ...keys.customerKey(appName, id),
      ...keys.customerIndexKeys(appName, id, date),
      username: id,
      createdAt: date,
    };
  if (collection === 'P') {
    const dates = { createdAt: date, updatedAt: date };
    const indexed = keys.purchaseIndexKeys(appName, id, dates);
    return { ...keys.purchaseKey(appName, id), ...indexed, ...dates, version: 1, entitledUsers: [] };
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

const idOf = ({ username, pk }: Item): string => String(username ?? String(pk).split('#')[2]);
const inOrder = (rows: readonly Row[]): Row[] => rows.toSorted((a, b) => a.date - b.date || (a.id < b.id ? -1 : 1));
const idsOf = (rows: readonly Row[]): string[] => rows.map(({ id }) => id);

const shards = ['shard-0', 'shard-1', 'shard-2'] as const;

/** A list of its own application: rows are put into the table at once, and counted when the test says so. */
function newList(collection: ListKind) {
  const appName = createUniqueName();
  const waiting = shards.map((): { date: number; record: ReturnType<typeof buildStreamRecord> }[] => []);
  let position = 0;
  return {
    async put(rows: readonly Row[]) {
      const items = rows.map((row) => itemOf(appName, collection, row));
      await table.batchPut(items);
      rows.forEach(({ date }, index) => {
        const record = buildStreamRecord({ after: items[index] as Item }, position);
        waiting[position++ % shards.length]?.push({ date, record });
      });
    },
    /** Counts each shard, in order, up to its last record that began before a moment, and as many more as are given. */
    async count(before = Infinity, more: readonly number[] = []) {
      for (const [index, shard] of shards.entries()) {
        const records = waiting[index] ?? [];
        const due = records.findLastIndex(({ date }) => date < before) + 1;
        const taken = records.splice(0, Math.max(due, more[index] ?? 0));
        await aggregateStreamRecords(
          taken.map(({ record }) => record),
          shard,
          deps,
        );
      }
    },
    async page(asked: Parameters<PagedListRepository['getPage']>[2]) {
      const { items, total } = await lists.getPage(appName, collection, asked);
      return { ids: items.map(idOf), total };
    },
  };
}

const collections = fc.constantFrom<ListKind>('P', 'T', 'C');
/** Dates crowd around few hours and lie on their bounds. */
const anyDate = fc
  .tuple(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 23 }), fc.constantFrom(0, 1, 1_800_000, hour - 1))
  .map(([days, hours, rest]) => startDate + days * dayMs + hours * hour + rest);
const anyRows = fc.array(fc.tuple(fc.nat(6), anyDate), { maxLength: 60 }).map((dates) => {
  const crowded = dates.map(([which, date]) => (which < 4 ? (dates[which]?.[1] ?? date) : date));
  return crowded.map((date, index): Row => ({ id: `store_a:${index}`, date }));
});
const anyPages = fc.array(fc.record({ skip: fc.nat(70), limit: fc.integer({ min: 1, max: 40 }) }), {
  minLength: 1,
  maxLength: 5,
});
const anyNow = fc.oneof(fc.constant(startDate + 400 * dayMs), anyDate);

describe('a page', () => {
  it('holds the rows that the whole list has there, and the exact total', async () => {
    await fc.assert(
      fc.asyncProperty(collections, anyRows, anyPages, anyNow, async (collection, rows, pages, now) => {
        const list = newList(collection);
        await list.put(rows);
        await list.count();
        for (const { skip, limit } of pages) {
          const ids = idsOf(inOrder(rows)).slice(skip, skip + limit);
          expect(await list.page({ skip, limit, now })).toEqual({ ids, total: rows.length });
        }
      }),
      { numRuns: 40 },
    );
  }, 120_000);

  it('holds the rows between two moments, and their exact number', async () => {
    const anyMoment = fc.option(anyDate, { nil: undefined });
    await fc.assert(
      fc.asyncProperty(anyRows, anyPages, anyMoment, anyMoment, async (rows, pages, startdate, enddate) => {
        const list = newList('T');
        await list.put(rows);
        await list.count();
        const inRange = inOrder(rows).filter(
          ({ date }) => date >= (startdate ?? -Infinity) && date < (enddate ?? Infinity),
        );
        for (const { skip, limit } of pages) {
          const ids = idsOf(inRange).slice(skip, skip + limit);
          const asked = { skip, limit, startdate, enddate, now: startDate + 400 * dayMs };
          expect(await list.page(asked)).toEqual({ ids, total: inRange.length });
        }
      }),
      { numRuns: 40 },
    );
  }, 120_000);

  it('holds what the whole list has there at that moment, however late rows come in among older ones', async () => {
    // Transactions of long ago, and rows of writers that overtook one another within the last hours.
    const anyArrival = fc.record({ date: anyDate, agoMs: fc.integer({ min: 0, max: 3 * hour }), isOld: fc.boolean() });
    const anyTurn = fc.record({
      passMs: fc.integer({ min: 0, max: 40 * minute }),
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
          const list = newList(collection);
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
            await list.count(now - hour, counted);
            for (const { skip, limit } of pages) {
              const { ids, total } = await list.page({ skip, limit, now });
              expect(ids).toEqual(idsOf(inOrder(rows)).slice(skip, skip + limit));
              if (ids.length > 0) expect(total).toBeGreaterThanOrEqual(skip + ids.length);
              expect(total).toBeLessThanOrEqual(rows.length);
            }
          }
          await list.count();
          expect((await list.page({ skip: 0, limit: 1, now })).total).toBe(rows.length);
        },
      ),
      { numRuns: 40 },
    );
  }, 120_000);

  it('goes on where the last one ended while rows come in at the end and each shard of the stream lags in its own way', async () => {
    const fewRows = anyRows.map((rows) => rows.slice(0, 8));
    const anyTurn = fc.record({
      limit: fc.integer({ min: 1, max: 12 }),
      passMs: fc.integer({ min: 0, max: 40 * minute }),
      arrive: fc.array(fc.integer({ min: 0, max: 20 * minute }), { maxLength: 6 }),
      counted: fc.array(fc.nat(2), { minLength: 3, maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(
        collections,
        fewRows,
        fc.array(anyTurn, { minLength: 5, maxLength: 20 }),
        async (collection, past, turns) => {
          const list = newList(collection);
          await list.put(past);
          await list.count();
          let now = startDate + 101 * dayMs;
          let last = now;
          const rows = [...past];
          const read: string[] = [];
          const readOn = async (limit: number) => {
            const { ids, total } = await list.page({ skip: read.length, limit, now });
            expect(total).toBeGreaterThanOrEqual(read.length + ids.length);
            expect(total).toBeLessThanOrEqual(rows.length);
            read.push(...ids);
            return ids.length;
          };
          for (const { limit, passMs, arrive, counted } of turns) {
            now += passMs;
            const fresh = arrive.map((laterMs, index): Row => {
              last = Math.min(now, last + laterMs);
              return { id: `store_a:new-${String(rows.length + index).padStart(5, '0')}`, date: last };
            });
            await list.put(fresh);
            rows.push(...fresh);
            // Each shard lags in its own way, but what is older than an hour has been counted.
            await list.count(now - hour, counted);
            await readOn(limit);
          }
          while ((await readOn(10)) > 0);
          expect(read).toEqual(idsOf(inOrder(rows)));
          await list.count();
          expect((await list.page({ skip: 0, limit: 1, now })).total).toBe(rows.length);
        },
      ),
      { numRuns: 40 },
    );
  }, 120_000);

  it('of a range that ends before it begins is empty', async () => {
    const list = newList('T');
    await list.put([{ id: 'store_a:1', date: startDate }]);
    await list.count();
    const asked = { skip: 0, limit: 10, now: startDate + dayMs, startdate: startDate + hour, enddate: startDate };
    expect(await list.page(asked)).toEqual({ ids: [], total: 0 });
  });
});
