import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { give, spend } from '../../../lib/credits/change-credits.ts';
import { findAccount } from '../../../lib/credits/credit-table.ts';
import { moveCredits, returnMovedCredits } from '../../../lib/credits/move-credits.ts';
import { toCreditTotals } from '../../../lib/credits/to-records.ts';
import { creditEntryKey } from '../../../lib/foundation/keys.ts';
import type { Table } from '../../../lib/foundation/table.ts';
import { dayMs } from '../../../lib/foundation/time.ts';
import { createUniqueName, startDate } from '../../../testing/given.ts';
import { createTestTable } from '../../../testing/table.ts';
import { createAggregationDeps } from '../statistics/aggregation-deps.ts';

let table: Table;
let now: number;
let appName: string;
beforeAll(async () => {
  table = await createTestTable();
});
beforeEach(() => {
  now = startDate;
  appName = createUniqueName();
});

const getService = () => ({ ...createAggregationDeps(table), now: () => now });
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

async function countEntries(username: string, type: string): Promise<number> {
  const { pk, sk } = creditEntryKey(appName, username, 'P', '');
  return (await table.query({ partition: pk, prefix: sk })).filter((entry) => entry.type === type).length;
}

describe('a customer with more credits than one transaction has writes', () => {
  it('can spend after all others have ended, each with its entry', async () => {
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

  it('is merged, and its merge is reversed', async () => {
    await giveEach('ann');
    const merge = { from: 'ann', to: 'bob', mergeId: 'merge' };
    await moveCredits(getService(), appName, merge);
    expect([await readTotals('ann'), await readTotals('bob')]).toEqual([{}, each({ balance: 1 })]);
    await returnMovedCredits(getService(), appName, merge);
    expect([await readTotals('ann'), await readTotals('bob')]).toEqual([each({ balance: 1 }), each({ balance: 0 })]);
    expect(await countEntries('ann', 'received')).toBe(credits.length);
  });
});
