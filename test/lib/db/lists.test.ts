import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { aggregate } from '../../../lib/counting/aggregate.ts';
import { countersOf } from '../../../lib/db/counters.ts';
import { customersOf } from '../../../lib/db/customers.ts';
import * as keys from '../../../lib/db/keys.ts';
import { listsOf } from '../../../lib/db/lists.ts';
import type { Item, Table } from '../../../lib/db/table.ts';
import type { Deps } from '../../../lib/deps.ts';
import { day, freshName, start } from '../../support/given.ts';
import { streamRecord } from '../../support/stream-records.ts';
import { testTable } from '../../support/table.ts';

const hour = 60 * 60 * 1000;
const now = start + 100 * day;

let table: Table;
beforeAll(async () => {
  table = await testTable();
});

const customer = (app: string, username: string, createdAt: number): Item => ({
  ...keys.customerKey(app, username),
  ...keys.customerIndexKeys(app, username, createdAt),
  username,
  createdAt,
});

/** A list of customers that began at these moments; those that began after `countedUntil` have not been counted yet. */
async function givenCustomers(moments: readonly number[], countedUntil = now) {
  const app = freshName();
  const items = moments.map((createdAt, index) => customer(app, `user-${index}`, createdAt));
  const counters = countersOf(table);
  const count = async (some: readonly Item[]) => {
    const records = some.map((after, index) => streamRecord({ after }, index));
    await aggregate(records, 'shard', { counters, customers: customersOf(table) } as unknown as Deps);
  };
  await table.batchPut(items);
  await count(items.filter(({ createdAt }) => Number(createdAt) <= countedUntil));
  const names = [...items]
    .sort((a, b) => (String(a.createdSk) < String(b.createdSk) ? -1 : 1))
    .map(({ username }) => username);
  const lists = listsOf(table, counters);
  const page = async (skip: number, limit: number) => {
    const { items: rows, total } = await lists.page(app, 'C', { skip, limit, now });
    return { names: rows.map(({ username }) => username), total };
  };
  return { app, names, page };
}

/** Crowded hours and lonely ones, at the borders of hours, days and months too. */
const anyMoment = fc
  .tuple(fc.integer({ min: 0, max: 99 }), fc.constantFrom(0, 1, 13, 23), fc.constantFrom(0, 1, hour / 2, hour - 1))
  .map(([days, hours, ms]) => start + days * day + hours * hour + ms);

describe('a page of a list', () => {
  it('is that part of the whole list, wherever it begins and however long it is', async () => {
    const pages = fc.array(fc.tuple(fc.integer({ min: 0, max: 70 }), fc.integer({ min: 1, max: 40 })), {
      minLength: 8,
    });
    const moments = fc.array(anyMoment, { maxLength: 60 });
    const recent = fc.array(fc.integer({ min: 1, max: hour / 2 }), { maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(moments, recent, pages, async (old, ages, wanted) => {
        const { names, page } = await givenCustomers([...old, ...ages.map((age) => now - age)], now - hour / 2);
        for (const [skip, limit] of wanted) {
          expect((await page(skip, limit)).names).toEqual(names.slice(skip, skip + limit));
        }
      }),
      { numRuns: 12 },
    );
  }, 100_000);

  it('reaches every row once while new ones arrive and are not counted yet', async () => {
    const moments = Array.from({ length: 57 }, (_, index) => start + index * 41 * hour);
    const { app, names, page } = await givenCustomers(moments);
    const seen: unknown[] = [];
    for (let skip = 0; skip < 80; skip += 10) {
      await table.batchPut([customer(app, `new-${skip}`, now - 1_000 + skip)]);
      seen.push(...(await page(skip, 10)).names);
    }
    expect(seen.slice(0, names.length)).toEqual(names);
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('tells how many rows there are, those included that it met before they were counted', async () => {
    const { page } = await givenCustomers([start, start + day, now - 60_000], now - 2 * hour);
    expect((await page(0, 10)).total).toBe(3);
    expect((await page(1, 1)).total).toBe(2);
  });
});
