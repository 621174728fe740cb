import { beforeAll, describe, expect, it } from '@jest/globals';
import { getAppStats, getStats, getStatsV2 } from '../../lib/api/stats.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { eventKey, notificationKey, transactionKey } from '../../lib/db/keys.ts';
import { deps } from '../../lib/deps.ts';
import type { Transaction } from '../../lib/purchases/transaction.ts';
import { aggregateStreamRecords } from '../../lib/statistics/aggregate-stream.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { createObservation, createTransaction, givenApp } from '../../testing/given.ts';
import { buildStreamRecord } from '../../testing/stream-records.ts';
import { createTestTable } from '../../testing/table.ts';

const at = (date: string): number => Date.parse(`${date}T10:00:00Z`);

/** The items of an application that bought, was told and was asked on these days. */
function itemsOf({ appName }: IssuedApiKeys) {
  const bought = (id: string, date: string, fields: Partial<Transaction>) => {
    const { purchase } = createObservation();
    const transaction = {
      ...createTransaction(purchase),
      transactionId: `store_a:${id}`,
      purchaseDate: at(date),
      ...fields,
    };
    return { ...transactionKey(appName, purchase.purchaseId, transaction.transactionId), transaction };
  };
  return [
    bought('1', '2026-02-27', { currency: 'USD', amountMicros: 4_990_000 }),
    bought('2', '2026-03-01', { currency: 'EUR', amountMicros: 10_000_000, usdRate: '1.1/1' }),
    bought('3', '2026-03-01', { currency: 'XAU', amountMicros: 7_000_000 }),
    bought('4', '2026-03-01', { currency: 'USD', amountMicros: 9_990_000, sandbox: true }),
    bought('5', '2026-03-02', { currency: 'USD', amountMicros: 2_000_000, refundedAt: at('2026-03-03') }),
    { ...notificationKey(appName, 'store_a:1', at('2026-03-01'), 'n'), date: at('2026-03-01'), reason: 'RENEWED' },
    { ...eventKey(appName, 'e'), date: at('2026-03-01'), type: 'receipt.validated' },
  ];
}

let keys: IssuedApiKeys;
beforeAll(async () => {
  keys = await givenApp(await createTestTable());
  await aggregateStreamRecords(
    itemsOf(keys).map((after, position) => buildStreamRecord({ after }, position)),
    'shard-1',
    deps(),
  );
});

const asked = { startdate: '2026-03-01', enddate: '2026-03-03' };
const statsOf = async (query: Record<string, string>) =>
  (await callEndpoint(getStats, { headers: buildBasicAuth(keys.appName, keys.secretKey), query })).body;

describe('GET /v3/stats', () => {
  it('tells of each day its money by currency, and dollars where there is a rate', async () => {
    const { dailyStats, monthlyStats } = await statsOf({ ...asked, include_notifications: 'true' });
    expect(dailyStats).toMatchObject([
      {
        date: '2026-03-01',
        amountUSD: 11,
        amountMicros: { EUR: 10_000_000, XXX: 7_000_000 },
        numRequests: 1,
        numTransactions: 3,
        numPaidTransactions: 2,
        notifications: { RENEWED: 1, EXPIRED: 0 },
        monthlyRevenueUSD: 15.99,
        monthlyTransactions: 4,
      },
      { date: '2026-03-02', amountUSD: 2, monthlyRevenueUSD: 17.99 },
      { date: '2026-03-03', amountUSD: -2, amountMicros: { USD: -2_000_000 }, monthlyRevenueUSD: 15.99 },
    ]);
    expect(monthlyStats).toMatchObject([{ date: '2026-03', amountUSD: 11, numTransactions: 4, numRequests: 1 }]);
  });

  it('tells of one currency only when it is asked for, and of notifications only then', async () => {
    const { dailyStats } = await statsOf({ ...asked, currency: 'eur' });
    expect(dailyStats[0]).toMatchObject({ amountUSD: 11, amountMicros: { EUR: 10_000_000 }, numTransactions: 1 });
    expect(dailyStats[0]).not.toHaveProperty('notifications');
    expect(dailyStats[1]).toMatchObject({ amountUSD: 0, amountMicros: {}, numTransactions: 0 });
  });

  it.each([
    { startdate: '2026-02-31' },
    { startdate: 'yesterday' },
    { startdate: '2016-01-01', enddate: '2026-01-08' },
    { currency: 'EURO' },
  ])('refuses %j', async (query) => {
    expect(await statsOf(query)).toMatchObject({ ok: false, status: 400, code: 'InvalidPayload' });
  });

  it.each([
    { startdate: '2026-03-02', enddate: '2026-03-01' },
    { startdate: '2026-03-01', enddate: '2026-02-28' },
    { startdate: '2999-01-01' },
  ])('tells of no day and no month where the dates lie the wrong way round: %j', async (query) => {
    expect(await statsOf(query)).toEqual({ dailyStats: [], monthlyStats: [] });
    const { body } = await callEndpoint(getStatsV2, { headers: buildBasicAuth(keys.appName, keys.secretKey), query });
    expect(body).toEqual({ dailyStats: [], monthlyStats: { amountUSD: 0, numTransactions: 0 } });
  });

  it('tells of ten years at once, far below what a function may answer and how long it may take', async () => {
    const query = { startdate: '2016-03-16', enddate: '2026-03-23', include_notifications: 'true' };
    const startedAt = Date.now();
    const stats = await statsOf(query);
    expect(Date.now() - startedAt).toBeLessThan(3_000);
    expect([stats.dailyStats.length, stats.monthlyStats.length]).toEqual([3_660, 121]);
    expect(Buffer.byteLength(JSON.stringify(stats))).toBeLessThan(2_500_000);
  });

  it('shows a month of days and a year of months when no dates are given', async () => {
    const { dailyStats, monthlyStats } = await statsOf({});
    expect([dailyStats.length, monthlyStats.length]).toEqual([31, 12]);
  });
});

it('GET /v2/stats writes days without dashes, and one month', async () => {
  const { body } = await callEndpoint(getStatsV2, {
    headers: buildBasicAuth(keys.appName, keys.secretKey),
    query: asked,
  });
  expect(body.dailyStats[0]).toEqual({
    date: '20260301',
    amountUSD: 11,
    numTransactions: 3,
    monthlyRevenueUSD: 15.99,
    monthlyTransactions: 4,
  });
  expect(body.monthlyStats).toEqual({ amountUSD: 15.99, numTransactions: 5 });
});

it("GET /v3/apps/:appName/stats answers about the key's own application only", async () => {
  const headers = buildBasicAuth(keys.appName, keys.secretKey);
  const own = await callEndpoint(getAppStats, { headers, params: { appName: keys.appName } });
  expect(own.body).toMatchObject({ thisMonth: expect.any(Number), reqLastMonth: expect.any(Number) });
  const other = await callEndpoint(getAppStats, { headers, params: { appName: 'another' } });
  expect(other.body).toMatchObject({ status: 403, code: 'Forbidden' });
});
