import { beforeAll, describe, expect, it } from '@jest/globals';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { getStatsV2 } from '../../lib/statistics/contract.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { givenApp } from '../../testing/given-app.ts';
import { createTestTable } from '../../testing/table.ts';
import { givenPaidPurchase, paidDay } from './purchase-fixture.ts';
import { givenStats, marchRange } from './stats-fixture.ts';

let keys: IssuedApiKeys;
beforeAll(async () => {
  keys = await givenStats();
});

describe('GET /v2/stats', () => {
  it('returns days without dashes and the sums of one month', async () => {
    const { body } = await callWithSecretKey(getStatsV2, keys, { query: marchRange });
    expect(body.dailyStats[0]).toEqual({
      date: '20260301',
      amountUSD: 11,
      numTransactions: 2,
      monthlyRevenueUSD: 15.99,
      monthlyTransactions: 3,
    });
    expect(body.monthlyStats).toEqual({ amountUSD: 15.99, numTransactions: 4 });
  });

  it.each([
    { startdate: '2026-03-02', enddate: '2026-03-01' },
    { startdate: '2026-03-01', enddate: '2026-02-28' },
    { startdate: '2999-01-01' },
  ])('returns no day and zero sums if the start is after the end: %j', async (query) => {
    const { body } = await callWithSecretKey(getStatsV2, keys, { query });
    expect(body).toEqual({ dailyStats: [], monthlyStats: { amountUSD: 0, numTransactions: 0 } });
  });

  it('returns the amounts and transactions of a recorded purchase', async () => {
    const appKeys = await givenApp(await createTestTable());
    await givenPaidPurchase(appKeys, 'ann');
    const { body } = await callWithSecretKey(getStatsV2, appKeys);
    expect(body.dailyStats).toContainEqual(
      expect.objectContaining({ date: paidDay.replaceAll('-', ''), amountUSD: 4.99, numTransactions: 1 }),
    );
    expect(body.monthlyStats).toEqual({ amountUSD: 4.99, numTransactions: 1 });
  });
});
