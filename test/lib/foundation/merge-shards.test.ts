import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { allTimestamps } from '../../../lib/foundation/key.ts';
import * as keys from '../../../lib/foundation/keys.ts';
import { compareSortKeys, queryShards, scanShards } from '../../../lib/foundation/merge-shards.ts';
import type { Item, Table } from '../../../lib/foundation/table.ts';
import { findRows } from '../../../lib/lists/find-rows.ts';
import type { WebhookDelivery } from '../../../lib/webhooks/delivery.ts';
import { listDeliveryPage } from '../../../lib/webhooks/list-deliveries.ts';
import { createService } from '../../../testing/create-service.ts';
import { createUniqueName, startDate } from '../../../testing/given.ts';
import { insertDuringQueries } from '../../../testing/insert-during-queries.ts';
import { sampleRuns } from '../../../testing/sample.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { createTestTable } from '../../../testing/table.ts';

const table = startBeforeAll(createTestTable);

interface Row {
  readonly id: string;
  readonly date: number;
}

const toSortKey = ({ id, date }: Row): string => `${date}#${id}`;
const byBytes = (a: Row, b: Row): number => Buffer.compare(Buffer.from(toSortKey(a)), Buffer.from(toSortKey(b)));
const getIds = (rows: readonly Row[]): string[] => rows.map(({ id }) => id);

/** Ids whose order in UTF-8 differs from the order of their code units, and others. */
const anyId = fc.oneof(
  fc.string({ minLength: 1, maxLength: 6 }),
  fc.string({ unit: fc.constantFrom('a', '#', '\u{FFFD}', '\u{E000}', '\u{1F600}'), minLength: 1, maxLength: 4 }),
);
const anyRows = (maxLength: number) =>
  fc.uniqueArray(fc.record({ id: anyId, date: fc.integer({ min: startDate, max: startDate + 9 }) }), {
    maxLength,
    selector: ({ id }) => id,
  });
const anyPageSize = fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 6, max: 80 }));

const toCustomer = (appName: string, { id, date }: Row): Item => ({
  ...keys.customerKey(appName, id),
  ...keys.customerIndexKeys(appName, id, date),
  username: id,
  createdAt: date,
});

/** Splits rows: those that exist at the start, and those that are inserted while pages are read. */
const splitRows = (rows: readonly Row[]): [existing: Row[], inserted: Row[]] => [
  rows.filter((_row, index) => index % 3 > 0),
  rows.filter((_row, index) => index % 3 === 0),
];

/** Expects rows in order, each once, with every row that existed at the start, and only expected ones. */
function expectCompletePages(read: readonly string[], expected: readonly Row[], existing: readonly Row[]): void {
  const existingIds = new Set(getIds(existing));
  expect(read.filter((id) => existingIds.has(id))).toEqual(getIds(expected).filter((id) => existingIds.has(id)));
  expect(read).toEqual(getIds(expected).filter((id) => read.includes(id)));
}

describe('compareSortKeys', () => {
  it('compares like the bytes of UTF-8', () => {
    fc.assert(
      fc.property(anyId, anyId, (a, b) => {
        expect(Math.sign(compareSortKeys(a, b))).toBe(Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))));
      }),
    );
  });
});

describe('queryShards', () => {
  it('returns the first rows of all shards in the order of an unsharded index', async () => {
    await fc.assert(
      fc.asyncProperty(anyRows(80), fc.boolean(), anyPageSize, async (rows, newestFirst, limit) => {
        const appName = createUniqueName();
        await table.batchPut(rows.map((row) => toCustomer(appName, row)));
        const sorted = rows.toSorted(byBytes);
        const expected = getIds(newestFirst ? sorted.reverse() : sorted);
        const range = {
          partitions: keys.createdLists.customers.partitions(appName),
          index: 'byCreated',
          between: allTimestamps,
          newestFirst,
        } as const;
        const read = async (count?: number) =>
          (await queryShards(table, range, count)).map(
            ({ pk }) => keys.customerKey.parsePartition(String(pk)).username,
          );
        expect(await read(limit)).toEqual(expected.slice(0, limit));
        expect(await read()).toEqual(expected);
      }),
      sampleRuns({ sample: 10, full: 150 }),
    );
  });

  it('returns entries with equal sort keys once each', async () => {
    const appName = createUniqueName();
    const names = Array.from({ length: 40 }, (_, index) =>
      [...'sameword'].map((letter, bit) => ((index >> bit) & 1 ? letter.toUpperCase() : letter)).join(''),
    );
    await table.batchPut(names.map((id) => toCustomer(appName, { id, date: startDate })));
    const partitions = keys.customerNameList.partitions(appName);
    const range = { partitions, index: 'byKey', between: keys.namePrefixRange('SAME') } as const;
    const batches: Item[] = [];
    for await (const batch of scanShards(table, range, 7)) batches.push(...batch);
    expect(batches.map(({ pk }) => keys.customerKey.parsePartition(String(pk)).username).sort()).toEqual(names.sort());
  });

  it('reads few more entries than it returns', async () => {
    const appName = createUniqueName();
    const rows = Array.from({ length: 600 }, (_, index) => ({ id: `user-${index}`, date: startDate + index }));
    await table.batchPut(rows.map((row) => toCustomer(appName, row)));
    const range = {
      partitions: keys.createdLists.customers.partitions(appName),
      index: 'byCreated',
      between: allTimestamps,
    };
    let entries = 0;
    const counting: Table = {
      ...table,
      async query(shard) {
        const items = await table.query(shard);
        entries += items.length;
        return items;
      },
    };
    expect(await queryShards(counting, { ...range, index: 'byCreated' }, 300)).toHaveLength(300);
    expect(entries).toBeLessThan(400);
  });
});

describe('scanShards', () => {
  it('returns every row that exists at the start once and in order while rows are inserted', async () => {
    await fc.assert(
      fc.asyncProperty(anyRows(80), fc.boolean(), anyPageSize, async (rows, newestFirst, pageSize) => {
        const appName = createUniqueName();
        const [existing, inserted] = splitRows(rows);
        await table.batchPut(existing.map((row) => toCustomer(appName, row)));
        const partitions = keys.createdLists.customers.partitions(appName);
        const range = { partitions, index: 'byCreated', between: allTimestamps, newestFirst } as const;
        const changing = insertDuringQueries(
          table,
          inserted.map((row) => toCustomer(appName, row)),
        );
        const read: string[] = [];
        for await (const batch of scanShards(changing, range, pageSize))
          read.push(...batch.map(({ pk }) => keys.customerKey.parsePartition(String(pk)).username));
        const sorted = rows.toSorted(byBytes);
        expectCompletePages(read, newestFirst ? sorted.reverse() : sorted, existing);
      }),
      sampleRuns({ sample: 10, full: 150 }),
    );
  });

  it('returns every purchase at least once while purchases move to the end of the list', async () => {
    const anyMoves = fc.array(fc.nat(39), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(anyMoves, anyPageSize, async (moves, pageSize) => {
        const appName = createUniqueName();
        const toPurchase = (id: string, updatedAt: number): Item => ({
          ...keys.purchaseKey(appName, id),
          ...keys.purchaseIndexKeys(appName, id, { createdAt: startDate, updatedAt }),
        });
        const ids = Array.from({ length: 40 }, (_, index) => `store_a:${index}`);
        await table.batchPut(ids.map((id, index) => toPurchase(id, startDate + index)));
        const moved = moves.map((number, index) => toPurchase(`store_a:${number}`, startDate + 100 + index));
        const partitions = keys.updatedPurchaseList.partitions(appName);
        const range = { partitions, index: 'byKey', between: allTimestamps } as const;
        const read = new Set<string>();
        for await (const batch of scanShards(insertDuringQueries(table, moved), range, pageSize))
          for (const { pk } of batch) read.add(keys.purchaseKey.parsePartition(String(pk)).purchaseId);
        expect([...read].sort()).toEqual(ids.sort());
      }),
      sampleRuns({ sample: 10, full: 100 }),
    );
  });
});

describe('findRows', () => {
  it('returns every matching row once over all pages while rows are inserted', async () => {
    const anyOrder = fc.constantFrom('newest', 'oldest');
    const anyMatch = fc.constantFrom<(row: Row) => boolean>(
      () => true,
      ({ date }) => date % 2 === 0,
    );
    const anyBound = fc.option(fc.integer({ min: startDate, max: startDate + 10 }), { nil: undefined });
    // A character outside the basic plane is after U+FFFD in the table, but before it in JavaScript.
    const mixedPlanes = ['a', '\u{1F600}', '\u{FFFD}'].map((id): Row => ({ id, date: startDate }));
    const newestOnes = { order: 'newest', limit: 1, startdate: undefined, enddate: undefined } as const;
    await fc.assert(
      fc.asyncProperty(
        anyRows(80),
        fc.record({ order: anyOrder, limit: anyPageSize, startdate: anyBound, enddate: anyBound }),
        anyMatch,
        async (rows, query, matches) => {
          const appName = createUniqueName();
          const [existing, inserted] = splitRows(rows);
          await table.batchPut(existing.map((row) => toCustomer(appName, row)));
          const changing = insertDuringQueries(
            table,
            inserted.map((row) => toCustomer(appName, row)),
          );
          const parseItem = ({ username, createdAt }: Item): Row => ({ id: String(username), date: Number(createdAt) });
          const list = { table: changing, appName, collection: 'customers', parseItem } as const;
          const read: string[] = [];
          let cursor: string | undefined;
          do {
            const page = await findRows(list, { ...query, cursor, matches, maxScanned: 50 });
            expect(page.rows.length).toBeLessThanOrEqual(query.limit);
            read.push(...getIds(page.rows));
            cursor = page.next;
          } while (cursor !== undefined);
          const isSelected = (row: Row) =>
            matches(row) && row.date >= (query.startdate ?? 0) && row.date < (query.enddate ?? Infinity);
          const sorted = rows.filter(isSelected).toSorted(byBytes);
          expectCompletePages(read, query.order === 'newest' ? sorted.reverse() : sorted, existing);
        },
      ),
      { ...sampleRuns({ sample: 10, full: 150 }), examples: [[mixedPlanes, newestOnes, () => true]] },
    );
  });

  it('returns a row whose date changes between two reads of its shard once, at its new place', async () => {
    const appName = createUniqueName();
    const rows = Array.from({ length: 400 }, (_, index): Row => ({ id: `user-${index}`, date: startDate + index }));
    const findShard = (row: Row) => keys.customerIndexKeys(appName, row.id, row.date).createdPk;
    const [first, ...others] = rows.filter((row, _index, [oldest]) => oldest && findShard(row) === findShard(oldest));
    if (!first) throw new Error('There are no rows.');
    await table.batchPut([first, ...others].map((row) => toCustomer(appName, row)));
    const moving: Table = {
      ...table,
      async query(range) {
        const items = await table.query(range);
        if (items.some(({ createdSk }) => String(createdSk).startsWith(`${startDate}`)))
          await table.batchPut([toCustomer(appName, { ...first, date: startDate + 1_000 })]);
        return items;
      },
    };
    const list = {
      table: moving,
      appName,
      collection: 'customers',
      parseItem: ({ username }: Item) => username,
    } as const;
    const search = {
      order: 'oldest',
      limit: 100,
      maxScanned: 1_000,
      startdate: undefined,
      enddate: undefined,
    } as const;
    const { rows: read } = await findRows(list, { ...search, cursor: undefined, matches: () => true });
    expect(read).toEqual(getIds([...others, first]));
  });
});

describe('listDeliveryPage', () => {
  it('returns every delivery once over all pages, newest first, while deliveries are created', async () => {
    const anyState = fc.constantFrom(undefined, 'pending', 'dead', 'delivered');
    await fc.assert(
      fc.asyncProperty(anyRows(60), anyPageSize, anyState, async (rows, limit, state) => {
        const appName = createUniqueName();
        const toDelivery = ({ id, date }: Row): Item => {
          const delivery: WebhookDelivery = {
            appName,
            deliveryId: id,
            type: 'test',
            notification: { id, reason: 'RENEWED', date },
            url: 'https://app.example/webhook',
            state: date % 2 === 0 ? 'dead' : 'delivered',
            createdAt: date,
            failedAttempts: 0,
          };
          return {
            ...keys.deliveryKey(appName, id),
            ...keys.deliveryList.entry(appName, id, date),
            ...(delivery.state === 'dead' && keys.openDeliveryList.entry(appName, id, date)),
            ...delivery,
          };
        };
        const [existing, inserted] = splitRows(rows);
        await table.batchPut(existing.map(toDelivery));
        const service = createService(insertDuringQueries(table, inserted.map(toDelivery)));
        const read: string[] = [];
        let cursor: string | undefined;
        do {
          const page = await listDeliveryPage(service, appName, { limit, state, cursor });
          read.push(...page.rows.map(({ deliveryId }) => deliveryId));
          cursor = page.next;
        } while (cursor !== undefined);
        const isSelected = ({ date }: Row) => state === undefined || state === (date % 2 === 0 ? 'dead' : 'delivered');
        expectCompletePages(read, rows.filter(isSelected).toSorted(byBytes).reverse(), existing);
      }),
      sampleRuns({ sample: 10, full: 100 }),
    );
  });
});
