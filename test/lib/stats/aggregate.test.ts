import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { aggregate } from '../../../lib/counting/aggregate.ts';
import { type Counters, countersOf } from '../../../lib/db/counters.ts';
import { customersOf } from '../../../lib/db/customers.ts';
import * as keys from '../../../lib/db/keys.ts';
import type { Table } from '../../../lib/db/table.ts';
import type { Deps } from '../../../lib/deps.ts';
import { type Counted, contributionsOf, summed } from '../../../lib/stats/contributions.ts';
import { added, byPeriod, type Tally, withoutHours } from '../../../lib/stats/tally.ts';
import type { Transaction } from '../../../lib/transactions/transaction.ts';
import { crashingTable } from '../../support/crashing-table.ts';
import { day, freshName, paid, seenPurchase, start } from '../../support/given.ts';
import { type ItemChange, streamRecord } from '../../support/stream-records.ts';
import { testTable } from '../../support/table.ts';

let table: Table;
beforeAll(async () => {
  table = await testTable();
});

/** What the aggregator works with, of which each write may be the last before a crash. */
function working(crashes: () => boolean): { deps: Deps; counters: Counters } {
  const crashing = crashingTable(table, crashes);
  const purchases = { ownedBy: async () => [] };
  const counters = countersOf(crashing);
  return {
    deps: { counters, customers: customersOf(crashing), purchases } as unknown as Deps,
    counters: countersOf(table),
  };
}

const transactionItem = (app: string, id: number, fields: Partial<Transaction>): Counted => ({
  ...keys.transactionKey(app, `store_a:${id}`, `store_a:${id}`),
  transaction: { ...paid(seenPurchase().purchase), transactionId: `store_a:${id}`, ...fields },
});

const anyTransaction = fc.record({
  id: fc.integer({ min: 0, max: 8 }),
  fields: fc.record(
    {
      purchaseDate: fc.integer({ min: 0, max: 70 }).map((days) => start + days * day + 7_200_000),
      amountMicros: fc.integer({ min: 0, max: 9_990_000 }),
      currency: fc.constantFrom('USD', 'EUR'),
      sandbox: fc.boolean(),
      refundedAt: fc.integer({ min: 0, max: 90 }).map((days) => start + days * day),
    },
    { requiredKeys: ['purchaseDate', 'amountMicros', 'currency', 'sandbox'] },
  ),
});

/** The changes of a table in which items are written one after the other, and what it holds in the end. */
function historyOf(app: string, writes: readonly { id: number; fields: Partial<Transaction> }[]) {
  const present = new Map<number, Counted>();
  const changes = writes.map(({ id, fields }): ItemChange => {
    const before = present.get(id);
    const after = transactionItem(app, id, fields);
    present.set(id, after);
    return { after, ...(before && { before }) };
  });
  return { changes, items: [...present.values()] };
}

const recounted = (items: readonly Counted[]): ReadonlyMap<string, Tally> => summed(...items.map(contributionsOf));

function monthsOf(days: ReadonlyMap<string, Tally>): ReadonlyMap<string, Tally> {
  const months = new Map<string, Tally>();
  for (const [date, tally] of days) {
    const month = date.slice(0, 7);
    months.set(month, added(months.get(month) ?? {}, withoutHours(tally)));
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
          const app = freshName();
          const { changes, items } = historyOf(app, writes);
          const records = changes.map(streamRecord);
          const { deps, counters } = working(() => chances.next().value === 0);
          let taken = 0;
          for (let turn = 0; taken < records.length; turn++) {
            const size = portions[turn % portions.length] ?? 1;
            // A batch that failed comes again, in another size.
            const done = await aggregate(records.slice(taken, taken + size), 'shard-1', deps).then(
              () => true,
              () => false,
            );
            if (done) taken += size;
          }
          // Some of it once more, as after a success of which the platform did not hear.
          const quiet = working(() => false);
          await aggregate(records.slice(0, 3), 'shard-1', quiet.deps);
          const expected = recounted(items);
          const days = byPeriod(await counters.days(app, '2000-01-01', '2099-12-31'));
          expect(notEmpty(days)).toEqual(notEmpty(expected));
          expect(notEmpty(byPeriod(await counters.months(app)))).toEqual(notEmpty(monthsOf(expected)));
        },
      ),
      { numRuns: 60 },
    );
  }, 120_000);

  it('keeps the records of each shard apart', async () => {
    const app = freshName();
    const { deps, counters } = working(() => false);
    const fields = { purchaseDate: start, amountMicros: 1_000_000, currency: 'USD', sandbox: false };
    const one = streamRecord({ after: transactionItem(app, 1, fields) }, 7);
    const other = streamRecord({ after: transactionItem(app, 2, fields) }, 5);
    await Promise.all([aggregate([one], 'shard-1', deps), aggregate([other], 'shard-2', deps)]);
    await aggregate([one], 'shard-1', deps);
    const [first] = await counters.days(app, '2026-01-01', '2026-01-01');
    expect(first?.tally).toMatchObject({ transactions: 2, paid: 2, 'USD.micros': 2_000_000, 'T.0': 2 });
  });

  it('does not take a row that only grew too old for one that was never there', async () => {
    const app = freshName();
    const { deps, counters } = working(() => false);
    const event = { ...keys.eventKey(app, 'e'), date: start, type: 'receipt.validated' };
    const expired = {
      ...streamRecord({ before: event }, 2),
      userIdentity: { type: 'Service', principalId: 'dynamodb.amazonaws.com' },
    };
    await aggregate([streamRecord({ after: event }, 1), expired], 'shard-1', deps);
    expect((await counters.months(app))[0]?.tally).toEqual({ requests: 1 });
  });

  it('counts what was bought in a sandbox, but not as money', async () => {
    const sandbox = transactionItem('app', 1, {
      purchaseDate: start,
      amountMicros: 5,
      currency: 'USD',
      sandbox: true,
      refundedAt: start,
    });
    expect(notEmpty(contributionsOf(sandbox))).toEqual({ '2026-01-01': { 'T.0': 1, transactions: 1 } });
  });

  it('takes money that was given back from the day of the refund', () => {
    const refunded = transactionItem('app', 1, {
      purchaseDate: start,
      amountMicros: 4_990_000,
      currency: 'USD',
      sandbox: false,
      refundedAt: start + 3 * day,
    });
    const days = contributionsOf(refunded);
    expect(days.get('2026-01-01')).toMatchObject({ 'USD.micros': 4_990_000, paid: 1 });
    expect(days.get('2026-01-04')).toEqual({ 'USD.micros': -4_990_000, 'USD.usd': -4_990_000 });
  });
});

it('amounts are counted however large they grow: currencies of small units reach beyond 53 bits', async () => {
  const { deps, counters } = working(() => false);
  const app = freshName();
  const month = [1, 2, 3, 4].map((id) =>
    transactionItem(app, id, {
      ...{ currency: 'VND', amountMicros: 3_000_000_000_000_000 + id * 1_000_000 },
      purchaseDate: start + id * day,
    }),
  );
  for (const [index, after] of month.entries()) await aggregate([streamRecord({ after }, index)], 'shard', deps);
  const [counted] = await counters.months(app);
  expect(JSON.stringify(counted)).toContain('12000000010000000');
});
