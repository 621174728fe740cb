import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { endHold, give, spend } from '../../../lib/credits/change-credits.ts';
import { passTime } from '../../../lib/credits/credit-account.ts';
import { endCredits, findAccount } from '../../../lib/credits/credit-table.ts';
import { moveCredits, returnMovedCredits } from '../../../lib/credits/move-credits.ts';
import { toCreditTotals } from '../../../lib/credits/to-records.ts';
import { creditAccountKey, creditEntryKey, duePartitions } from '../../../lib/foundation/keys.ts';
import type { Item, Table } from '../../../lib/foundation/table.ts';
import { dayMs, hourMs, minuteMs } from '../../../lib/foundation/time.ts';
import { enqueueDueItems } from '../../../lib/refresh/enqueue-due-items.ts';
import { createUniqueName, startDate } from '../../../testing/given.ts';
import { createTestTable } from '../../../testing/table.ts';
import { createAggregationService } from '../statistics/aggregation-service.ts';

let table: Table;
let now: number;
let appName: string;
beforeAll(async () => {
  // Its own table: the worker of due items reads the items of all apps.
  table = await createTestTable('claimcheck-test-credits');
});
beforeEach(() => {
  now = startDate;
  appName = createUniqueName();
});

const getService = () => ({ ...createAggregationService(table), now: () => now });
const toContext = (username: string) => ({ appName, username, isSandbox: false, key: { id: 'key', name: 'alice' } });
const credits = Array.from({ length: 110 }, (_, number) => `credit-${number}`);

/** Gives one unit of more credits than one transaction can contain. */
async function giveEach(username: string, until?: number): Promise<void> {
  for (const credit of credits) {
    const request = { credit, amount: 1, idempotencyKey: credit, reason: 'why', until };
    await give(getService(), request, toContext(username));
  }
}

const readTotals = async (username: string) =>
  toCreditTotals(await findAccount(getService(), appName, { username, isSandbox: false }), now);
const each = (totals: object) => Object.fromEntries(credits.map((credit) => [credit, expect.objectContaining(totals)]));

async function listEntries(username: string, type: string): Promise<Item[]> {
  const { pk, sk } = creditEntryKey(appName, username, 'P', '');
  return (await table.query({ partition: pk, prefix: sk })).filter((entry) => entry.type === type);
}
const countEntries = async (username: string, type: string) => (await listEntries(username, type)).length;

describe('account with more credits than one transaction has writes', () => {
  it('accepts a spend after all others have ended, each with its entry', async () => {
    await giveEach('ann', startDate + dayMs);
    now += 2 * dayMs;
    await give(getService(), { credit: 'coins', amount: 5, idempotencyKey: 'a', reason: 'why' }, toContext('ann'));
    await spend(getService(), { credit: 'coins', amount: 2, idempotencyKey: 'b' }, toContext('ann'));
    expect(await readTotals('ann')).toEqual({
      ...each({ balance: 0, granted: 1, expired: 1 }),
      coins: expect.objectContaining({ balance: 3 }),
    });
    expect(await countEntries('ann', 'expired')).toBe(credits.length);
  });

  it('accepts a merge and its reversal', async () => {
    await giveEach('ann');
    const merge = { from: 'ann', to: 'bob', mergeId: 'merge' };
    await moveCredits(getService(), appName, merge);
    expect([await readTotals('ann'), await readTotals('bob')]).toEqual([{}, each({ balance: 1 })]);
    await returnMovedCredits(getService(), appName, merge);
    expect([await readTotals('ann'), await readTotals('bob')]).toEqual([each({ balance: 1 }), each({ balance: 0 })]);
    expect(await countEntries('ann', 'received')).toBe(credits.length);
  });
});

describe('end of units', () => {
  const giveCoins = async (amount: number, until: number) => {
    const request = { credit: 'coins', amount, idempotencyKey: `until ${until}`, reason: 'why', until };
    await give(getService(), request, toContext('ann'));
  };
  /** Runs the worker of due items once at a time. Returns the ends that the history has then. */
  const runWorkerAt = async (time: number) => {
    now = time;
    await enqueueDueItems(getService(), () => minuteMs);
    const ends = (await listEntries('ann', 'expired')).map(({ at, amount, balance }) => ({ at, amount, balance }));
    return ends.sort((a, b) => Number(a.at) - Number(b.at));
  };
  const countDueItems = async () =>
    (await Promise.all(duePartitions.map(async (partition) => await table.query({ partition, index: 'due' }))))
      .flat()
      .filter(({ pk }) => String(pk).startsWith(appName)).length;

  it('creates its entry in time, without another change of the customer', async () => {
    const [first, second] = [startDate + dayMs, startDate + 2 * dayMs];
    await giveCoins(10, second);
    await giveCoins(5, first);
    expect(await runWorkerAt(first - 1)).toEqual([]);
    const ended = [{ at: first, amount: 5, balance: 10 }];
    expect(await runWorkerAt(first)).toEqual(ended);
    expect(await runWorkerAt(first + hourMs)).toEqual(ended);
    expect(await runWorkerAt(second)).toEqual([...ended, { at: second, amount: 10, balance: 0 }]);
    expect(await countDueItems()).toBe(0);
  });

  it('becomes due only for customers with units that end, until they are spent', async () => {
    await give(getService(), { credit: 'gems', amount: 5, idempotencyKey: 'a', reason: 'why' }, toContext('ann'));
    expect(await countDueItems()).toBe(0);
    await giveCoins(5, startDate + dayMs);
    expect(await countDueItems()).toBe(1);
    await spend(getService(), { credit: 'coins', amount: 5, idempotencyKey: 'b' }, toContext('ann'));
    expect(await countDueItems()).toBe(0);
  });

  it('waits for a hold of the units', async () => {
    const [end, until] = [startDate + hourMs, startDate + 2 * hourMs];
    await giveCoins(5, end);
    const hold = { credit: 'coins', amount: 5, hold: true };
    await spend(getService(), { ...hold, idempotencyKey: 'a', until }, toContext('ann'));
    expect(await runWorkerAt(end)).toEqual([]);
    expect(await runWorkerAt(until)).toEqual([{ at: end, amount: 5, balance: 0 }]);
    await giveCoins(7, until + hourMs);
    const { holdId = '' } = await spend(
      getService(),
      { ...hold, idempotencyKey: 'b', until: until + 3 * hourMs },
      toContext('ann'),
    );
    now = until + 2 * hourMs;
    await endHold(getService(), { holdId, amount: 4 }, toContext('ann'));
    expect(await readTotals('ann')).toMatchObject({ coins: { balance: 0, spent: 4, expired: 8 } });
  });

  it('creates its entry when the first of several holds of the units ends', async () => {
    const end = startDate + hourMs;
    await giveCoins(5, end);
    const hold = { credit: 'coins', hold: true };
    await spend(getService(), { ...hold, amount: 2, idempotencyKey: 'a', until: end + hourMs }, toContext('ann'));
    await spend(getService(), { ...hold, amount: 3, idempotencyKey: 'b', until: end + 9 * hourMs }, toContext('ann'));
    expect((await runWorkerAt(end + hourMs)).map(({ amount }) => amount)).toEqual([2]);
    expect((await runWorkerAt(end + 9 * hourMs)).map(({ amount }) => amount).sort()).toEqual([2, 3]);
  });

  it('writes nothing for a customer who was erased since', async () => {
    await giveCoins(5, startDate + dayMs);
    const key = creditAccountKey(appName, 'ann', 'P');
    await table.batchDelete([key]);
    now += 2 * dayMs;
    await endCredits(getService(), { appName, username: 'ann', account: 'P' });
    expect(await table.get(key)).toBeUndefined();
  });
});

describe('customer whose merge was reversed', () => {
  it('accepts a merge into another customer', async () => {
    await give(getService(), { credit: 'coins', amount: 5, idempotencyKey: 'a', reason: 'why' }, toContext('ann'));
    const merge = { from: 'ann', to: 'bob', mergeId: 'merge' };
    await moveCredits(getService(), appName, merge);
    await returnMovedCredits(getService(), appName, merge);
    await moveCredits(getService(), appName, { ...merge, to: 'carol' });
    expect(await readTotals('carol')).toMatchObject({ coins: { balance: 5 } });
  });
});

describe('merge of two customers who sent the same idempotency key', () => {
  const merge = { from: 'ann', to: 'bob', mergeId: 'merge' };
  const giveBoth = async () => {
    for (const [name, until] of [['ann', startDate + dayMs] as const, ['bob', undefined] as const]) {
      const gift = { credit: 'coins', amount: 5, idempotencyKey: 'welcome', reason: 'why', until };
      await give(getService(), gift, toContext(name));
    }
  };

  it('keeps the end of each gift', async () => {
    await giveBoth();
    await moveCredits(getService(), appName, merge);
    expect(await readTotals('bob')).toMatchObject({ coins: { balance: 10 } });
    now += 2 * dayMs;
    expect(await readTotals('bob')).toMatchObject({ coins: { balance: 5, expired: 5 } });
  });

  it('keeps the hold of each customer', async () => {
    await giveBoth();
    for (const [name, until] of [['ann', startDate + hourMs] as const, ['bob', startDate + 2 * hourMs] as const]) {
      const hold = { credit: 'coins', amount: 5, hold: true, idempotencyKey: 'order 1', until };
      await spend(getService(), hold, toContext(name));
    }
    await moveCredits(getService(), appName, merge);
    now += hourMs;
    const { holds } = passTime(await findAccount(getService(), appName, { username: 'bob', isSandbox: false }), now);
    expect(holds.map(({ until }) => until)).toEqual([startDate + 2 * hourMs]);
  });
});
