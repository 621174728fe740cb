import { describe, expect, it } from '@jest/globals';
import { endHold, give, spend, take } from '../../../lib/credits/change-credits.ts';
import { findAccount } from '../../../lib/credits/credit-table.ts';
import { toCreditTotals } from '../../../lib/credits/to-records.ts';
import { mergeCustomers } from '../../../lib/customer-data/merge-customers.ts';
import { creditEntryKey } from '../../../lib/foundation/keys.ts';
import type { Item } from '../../../lib/foundation/table.ts';
import { dayMs } from '../../../lib/foundation/time.ts';
import { checkCredits } from '../../../lib/health/check-credits.ts';
import { aggregateStreamRecords } from '../../../lib/statistics/aggregate-stream.ts';
import { readCreditStats } from '../../../lib/statistics/read-credit-stats.ts';
import { correctCounters, recount } from '../../../lib/statistics/recount.ts';
import { createUniqueName, startDate } from '../../../testing/given.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { buildStreamRecord } from '../../../testing/stream-records.ts';
import { createTestTable } from '../../../testing/table.ts';
import { createAggregationService } from './aggregation-service.ts';

const table = startBeforeAll(createTestTable);

const range = ['2026-01-01', '2026-02-28'] as const;
const toDay = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** Gives, spends, holds, takes and lets expire coins of customers, one in the sandbox and one under a merged name. */
async function givenHistory() {
  const appName = createUniqueName();
  let now = startDate;
  const service = { ...createAggregationService(table), now: () => now };
  const key = { id: 'key', name: 'alice' };
  const contextOf = (username: string, isSandbox = false) => ({ appName, username, isSandbox, key }) as const;
  await mergeCustomers(service, { name: appName, strategy: 'last' }, { from: 'guest', to: 'bob', key });
  let number = 0;
  const coins = (amount: number) => ({ credit: 'coins', amount, idempotencyKey: `${number++}`, reason: 'why' });
  await give(service, { ...coins(100), until: startDate + 3 * dayMs }, contextOf('ann'));
  await give(service, coins(50), contextOf('guest'));
  await give(service, coins(7), contextOf('ann', true));
  await spend(service, coins(1_000), contextOf('ann')).catch(() => undefined);
  now += dayMs;
  await spend(service, coins(30), contextOf('ann'));
  const { holdId = '' } = await spend(service, { ...coins(20), hold: true }, contextOf('bob'));
  await endHold(service, { holdId, amount: 15 }, contextOf('bob'));
  await take(service, coins(5), contextOf('bob'));
  now += 40 * dayMs;
  await give(service, coins(1), contextOf('ann'));
  const items = await Promise.all(
    ['ann', 'bob', 'guest'].flatMap((user) =>
      ['P', 'S'].map(async (account) => {
        const { pk, sk } = creditEntryKey(appName, user, account, '');
        return await table.query({ partition: pk, prefix: sk });
      }),
    ),
  );
  return { appName, service, entries: items.flat() };
}

const countEntries = async (service: Awaited<ReturnType<typeof givenHistory>>['service'], changes: Item[]) =>
  await aggregateStreamRecords(
    service,
    changes.map((after, index) => buildStreamRecord({ after }, index)),
    'shard',
  );

const dayOf = (date: number, changes: object) => ({
  date: toDay(date),
  given: 0,
  spent: 0,
  takenBack: 0,
  expired: 0,
  ...changes,
});

describe('statistics of credits', () => {
  it('contain what was given, spent, taken back and expired by day, and what is outstanding, without the sandbox', async () => {
    const { appName, service, entries } = await givenHistory();
    await countEntries(service, entries);
    const days = [
      dayOf(startDate, { given: 150, outstanding: 150 }),
      dayOf(startDate + dayMs, { spent: 45, takenBack: 5, outstanding: 100 }),
      dayOf(startDate + 3 * dayMs, { expired: 70, outstanding: 30 }),
      dayOf(startDate + 41 * dayMs, { given: 1, outstanding: 31 }),
    ];
    const total = { outstandingAtStart: 0, given: 151, spent: 45, takenBack: 5, expired: 70, outstanding: 31 };
    expect(await readCreditStats(service, appName, range)).toEqual({ coins: { ...total, days } });
    const accounts = await Promise.all(
      ['ann', 'bob'].map(async (username) => await findAccount(service, appName, { username, isSandbox: false })),
    );
    const balances = accounts.map((account) => toCreditTotals(account, service.now()).coins?.balance ?? 0);
    expect(balances.reduce((sum, balance) => sum + balance, 0)).toBe(31);
    const later = [toDay(startDate + 2 * dayMs), toDay(startDate + 3 * dayMs)] as const;
    expect(await readCreditStats(service, appName, later)).toEqual({
      coins: {
        ...{ outstandingAtStart: 100, given: 0, spent: 0, takenBack: 0, expired: 70, outstanding: 30 },
        days: [days[2]],
      },
    });
  });

  it('equal a recount, which also fills missing counters', async () => {
    const { appName, service } = await givenHistory();
    const differences = await recount(service, appName, range);
    await correctCounters(service, appName, { days: range, differences });
    const filled = await readCreditStats(service, appName, range);
    expect(filled.coins?.outstanding).toBe(31);
    expect(await recount(service, appName, range)).toEqual([]);
    const counted = await givenHistory();
    await countEntries(counted.service, counted.entries);
    expect(await recount(counted.service, counted.appName, range)).toEqual([]);
    expect(await readCreditStats(counted.service, counted.appName, range)).toEqual(filled);
  });
});

describe('finding credits-never-spent', () => {
  it('names a credit that customers have for a week and that is not spent', async () => {
    const appName = createUniqueName();
    let now = startDate;
    const service = { ...createAggregationService(table), now: () => now };
    const context = { appName, username: 'ann', isSandbox: false, key: { id: 'key', name: 'alice' } };
    const coins = { credit: 'coins', amount: 9, reason: 'why' };
    const count = async (entry: object & { readonly entryId: string }, position: number) => {
      const after = { ...creditEntryKey(appName, 'ann', 'P', entry.entryId), ...entry };
      await aggregateStreamRecords(service, [buildStreamRecord({ after }, position)], 'shard');
    };
    expect(await checkCredits(service, appName)).toEqual([]);
    await count(await give(service, { ...coins, idempotencyKey: 'a' }, context), 1);
    expect(await checkCredits(service, appName)).toEqual([]);
    now += 8 * dayMs;
    expect(await checkCredits(service, appName)).toMatchObject([
      { code: 'credits-never-spent', severity: 'warning', app: appName, problem: expect.stringContaining('9 coins') },
    ]);
    await count(await spend(service, { ...coins, amount: 1, idempotencyKey: 'b' }, context), 2);
    expect(await checkCredits(service, appName)).toEqual([]);
  });
});
