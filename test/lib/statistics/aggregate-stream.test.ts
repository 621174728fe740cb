import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type CounterRepository, createCounterRepository } from '../../../lib/db/counter-repository.ts';
import { createCustomerRepository } from '../../../lib/db/customer-repository.ts';
import * as keys from '../../../lib/db/keys.ts';
import type { Table } from '../../../lib/db/table.ts';
import type { Deps } from '../../../lib/deps.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import { aggregateStreamRecords } from '../../../lib/statistics/aggregate-stream.ts';
import { addTally, collapseHours, indexByPeriod, type Tally } from '../../../lib/statistics/tally.ts';
import { type CountableItem, sumDailyTallies, tallyItem } from '../../../lib/statistics/tally-item.ts';
import { createCrashingTable } from '../../../testing/crashing-table.ts';
import { createObservation, createTransaction, createUniqueName, dayMs, startDate } from '../../../testing/given.ts';
import { buildStreamRecord, type ItemChange } from '../../../testing/stream-records.ts';
import { createTestTable } from '../../../testing/table.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
});

/** What the aggregator works with, of which each write may be the last before a crash. */
function working(crashes: () => boolean): { deps: Deps; counters: CounterRepository } {
  const crashing = createCrashingTable(table, crashes);
  const purchases = { ownedBy: async () => [] };
  const counters = createCounterRepository(crashing);
  return {
    deps: { counters, customers: createCustomerRepository(crashing), purchases } as unknown as Deps,
    counters: createCounterRepository(table),
  };
}

const transactionItem = (appName: string, id: number, fields: Partial<Transaction>): CountableItem => ({
  ...keys.transactionKey(appName, `store_a:${id}`, `store_a:${id}`),
  transaction: { ...createTransaction(createObservation().purchase), transactionId: `store_a:${id}`, ...fields },
});

const anyTransaction = fc.record({
  id: fc.integer({ min: 0, max: 8 }),
  fields: fc.record(
    {
      purchaseDate: fc.integer({ min: 0, max: 70 }).map((days) => startDate + days * dayMs + 7_200_000),
      amountMicros: fc.integer({ min: 0, max: 9_990_000 }),
      currency: fc.constantFrom('USD', 'EUR'),
      sandbox: fc.boolean(),
      refundedAt: fc.integer({ min: 0, max: 90 }).map((days) => startDate + days * dayMs),
    },
    { requiredKeys: ['purchaseDate', 'amountMicros', 'currency', 'sandbox'] },
  ),
});

/** The changes of a table in which items are written one after the other, and what it holds in the end. */
function historyOf(appName: string, writes: readonly { id: number; fields: Partial<Transaction> }[]) {
  const present = new Map<number, CountableItem>();
  const changes = writes.map(({ id, fields }): ItemChange => {
    const before = present.get(id);
    const after = transactionItem(appName, id, fields);
    present.set(id, after);
    return { after, ...(before && { before }) };
  });
  return { changes, items: [...present.values()] };
}

const recounted = (items: readonly CountableItem[]): ReadonlyMap<string, Tally> =>
  sumDailyTallies(...items.map(tallyItem));

function monthsOf(days: ReadonlyMap<string, Tally>): ReadonlyMap<string, Tally> {
  const months = new Map<string, Tally>();
  for (const [date, tally] of days) {
    const month = date.slice(0, 7);
    months.set(month, addTally(months.get(month) ?? {}, collapseHours(tally)));
  }
  return months;
}

const notEmpty = (tallies: ReadonlyMap<string, Tally>) =>
  Object.fromEntries([...tallies].filter(([, tally]) => Object.keys(tally).length > 0).sort());

describe('the aggregator', () => {
  it('counts each record once, whatever portions it comes in and wherever it crashes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyTransaction, { minLength: 1, maxLength: 25 }),
        fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 10 }),
        fc.infiniteStream(fc.integer({ min: 0, max: 9 })),
        async (writes, portions, chances) => {
          const appName = createUniqueName();
          const { changes, items } = historyOf(appName, writes);
          const records = changes.map(buildStreamRecord);
          const { deps, counters } = working(() => chances.next().value === 0);
          let taken = 0;
          for (let turn = 0; taken < records.length; turn++) {
            const size = portions[turn % portions.length] ?? 1;
            // A batch that failed comes again, in another size.
            const done = await aggregateStreamRecords(records.slice(taken, taken + size), 'shard-1', deps).then(
              () => true,
              () => false,
            );
            if (done) taken += size;
          }
          // Some of it once more, as after a success of which the platform did not hear.
          const quiet = working(() => false);
          await aggregateStreamRecords(records.slice(0, 3), 'shard-1', quiet.deps);
          const expected = recounted(items);
          const days = indexByPeriod(await counters.listDays(appName, '2000-01-01', '2099-12-31'));
          expect(notEmpty(days)).toEqual(notEmpty(expected));
          expect(notEmpty(indexByPeriod(await counters.listMonths(appName)))).toEqual(notEmpty(monthsOf(expected)));
        },
      ),
      { numRuns: 60 },
    );
  }, 120_000);

  it('keeps the records of each shard apart', async () => {
    const appName = createUniqueName();
    const { deps, counters } = working(() => false);
    const fields = { purchaseDate: startDate, amountMicros: 1_000_000, currency: 'USD', sandbox: false };
    const one = buildStreamRecord({ after: transactionItem(appName, 1, fields) }, 7);
    const other = buildStreamRecord({ after: transactionItem(appName, 2, fields) }, 5);
    await Promise.all([
      aggregateStreamRecords([one], 'shard-1', deps),
      aggregateStreamRecords([other], 'shard-2', deps),
    ]);
    await aggregateStreamRecords([one], 'shard-1', deps);
    const [first] = await counters.listDays(appName, '2026-01-01', '2026-01-01');
    expect(first?.tally).toMatchObject({ transactions: 2, paid: 2, 'USD.micros': 2_000_000, 'T.0': 2 });
  });

  it('does not take a row that only grew too old for one that was never there', async () => {
    const appName = createUniqueName();
    const { deps, counters } = working(() => false);
    const event = { ...keys.eventKey(appName, 'e'), date: startDate, type: 'receipt.validated' };
    const expired = {
      ...buildStreamRecord({ before: event }, 2),
      userIdentity: { type: 'Service', principalId: 'dynamodb.amazonaws.com' },
    };
    await aggregateStreamRecords([buildStreamRecord({ after: event }, 1), expired], 'shard-1', deps);
    expect((await counters.listMonths(appName))[0]?.tally).toEqual({ requests: 1 });
  });

  it('counts what was bought in a sandbox, but not as money', async () => {
    const sandbox = transactionItem('app', 1, {
      purchaseDate: startDate,
      amountMicros: 5,
      currency: 'USD',
      sandbox: true,
      refundedAt: startDate,
    });
    expect(notEmpty(tallyItem(sandbox))).toEqual({ '2026-01-01': { 'T.0': 1, transactions: 1 } });
  });

  it('takes money that was given back from the day of the refund', () => {
    const refunded = transactionItem('app', 1, {
      purchaseDate: startDate,
      amountMicros: 4_990_000,
      currency: 'USD',
      sandbox: false,
      refundedAt: startDate + 3 * dayMs,
    });
    const days = tallyItem(refunded);
    expect(days.get('2026-01-01')).toMatchObject({ 'USD.micros': 4_990_000, paid: 1 });
    expect(days.get('2026-01-04')).toEqual({ 'USD.micros': -4_990_000, 'USD.usd': -4_990_000 });
  });
});

it('amounts are counted however large they grow: currencies of small units reach beyond 53 bits', async () => {
  const { deps, counters } = working(() => false);
  const appName = createUniqueName();
  const month = [1, 2, 3, 4].map((id) =>
    transactionItem(appName, id, {
      ...{ currency: 'VND', amountMicros: 3_000_000_000_000_000 + id * 1_000_000 },
      purchaseDate: startDate + id * dayMs,
    }),
  );
  for (const [index, after] of month.entries())
    await aggregateStreamRecords([buildStreamRecord({ after }, index)], 'shard', deps);
  const [counted] = await counters.listMonths(appName);
  expect(JSON.stringify(counted)).toContain('12000000010000000');
});
