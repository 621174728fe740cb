import { describe, expect, it } from '@jest/globals';
import { getAppStats, getStats, getStatsV2 } from '../../lib/statistics/contract.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { givenApp } from '../../testing/given-app.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { createTestTable } from '../../testing/table.ts';
import { givenPaidPurchase, paidDay } from './purchase-fixture.ts';
import { givenStats, marchRange } from './stats-fixture.ts';

const keys = startBeforeAll(givenStats);

const fetchStats = async (query: Record<string, string>) => (await callWithSecretKey(getStats, keys, { query })).body;

describe('GET /v3/stats', () => {
  it('returns the amounts of each day by currency, and in USD if there is a rate', async () => {
    const { dailyStats, monthlyStats } = await fetchStats({ ...marchRange, include_notifications: 'true' });
    expect(dailyStats).toMatchObject([
      {
        date: '2026-03-01',
        amountUSD: 11,
        amountMicros: { EUR: 10_000_000, XXX: 7_000_000 },
        numRequests: 1,
        numTransactions: 2,
        numPaidTransactions: 2,
        notifications: { RENEWED: 1, EXPIRED: 0 },
        monthlyRevenueUSD: 15.99,
        monthlyTransactions: 3,
      },
      { date: '2026-03-02', amountUSD: 2, monthlyRevenueUSD: 17.99 },
      { date: '2026-03-03', amountUSD: -2, amountMicros: { USD: -2_000_000 }, monthlyRevenueUSD: 15.99 },
    ]);
    expect(monthlyStats).toMatchObject([{ date: '2026-03', amountUSD: 11, numTransactions: 3, numRequests: 1 }]);
  });

  it('returns one currency if the query names it, and no notifications unless the query includes them', async () => {
    const { dailyStats } = await fetchStats({ ...marchRange, currency: 'eur' });
    expect(dailyStats[0]).toMatchObject({ amountUSD: 11, amountMicros: { EUR: 10_000_000 }, numTransactions: 1 });
    expect(dailyStats[0]).not.toHaveProperty('notifications');
    expect(dailyStats[1]).toMatchObject({ amountUSD: 0, amountMicros: {}, numTransactions: 0 });
  });

  it('returns the amounts of the sandbox only with sandbox=true', async () => {
    const { dailyStats, monthlyStats } = await fetchStats({ ...marchRange, sandbox: 'true' });
    const sandbox = { amountUSD: 9.99, amountMicros: { USD: 9_990_000 }, numTransactions: 1, numRequests: 0 };
    expect(dailyStats).toMatchObject([{ ...sandbox, monthlyRevenueUSD: 9.99 }, { amountUSD: 0 }, { amountUSD: 0 }]);
    expect(monthlyStats).toMatchObject([sandbox]);
  });

  it.each([
    { sandbox: 'yes' },
    { startdate: '2026-02-31' },
    { startdate: 'yesterday' },
    { startdate: '2016-01-01', enddate: '2026-01-08' },
    { currency: 'EURO' },
  ])('rejects %j', async (query) => {
    expect(await fetchStats(query)).toMatchObject({ ok: false, status: 400, code: 'InvalidPayload' });
  });

  it.each([
    { startdate: '2026-03-02', enddate: '2026-03-01' },
    { startdate: '2026-03-01', enddate: '2026-02-28' },
    { startdate: '2999-01-01' },
  ])('returns empty lists if the start is after the end: %j', async (query) => {
    expect(await fetchStats(query)).toEqual({ dailyStats: [], monthlyStats: [] });
  });

  it('returns ten years within the size limit of a response', async () => {
    const query = { startdate: '2016-03-16', enddate: '2026-03-23', include_notifications: 'true' };
    const stats = await fetchStats(query);
    expect([stats.dailyStats.length, stats.monthlyStats.length]).toEqual([3_660, 121]);
    expect(Buffer.byteLength(JSON.stringify(stats))).toBeLessThan(2_500_000);
  });

  it('returns the amounts and transactions of a recorded purchase', async () => {
    const appKeys = await givenApp(await createTestTable());
    await givenPaidPurchase(appKeys, 'ann');
    const query = { startdate: paidDay, enddate: paidDay, include_notifications: 'true' };
    const { body } = await callWithSecretKey(getStats, appKeys, { query });
    expect(body.dailyStats).toMatchObject([
      { date: paidDay, amountUSD: 4.99, amountMicros: { USD: 4_990_000 }, numPaidTransactions: 1 },
    ]);
    expect(body.monthlyStats).toMatchObject([{ date: paidDay.slice(0, 7), amountUSD: 4.99, numTransactions: 1 }]);
  });
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

describe('GET /v3/apps/:appName/stats', () => {
  it("returns the counts of this month and the last month for the key's own app", async () => {
    const { body } = await callWithSecretKey(getAppStats, keys, { params: { appName: keys.appName } });
    expect(body).toMatchObject({ thisMonth: expect.any(Number), reqLastMonth: expect.any(Number) });
  });

  it('rejects an app name that does not exist', async () => {
    const { body } = await callWithSecretKey(getAppStats, await givenApp(await createTestTable()), {
      params: { appName: 'another' },
    });
    expect(body).toMatchObject({ status: 403, code: 'Forbidden' });
  });
});
