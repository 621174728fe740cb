import { beforeAll, describe, expect, it } from '@jest/globals';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { dayMs } from '../../lib/foundation/time.ts';
import type { Purchase } from '../../lib/purchases/purchase.ts';
import type { Transaction } from '../../lib/purchases/transaction.ts';
import { type BreakdownGroup, type BreakdownRow, getStatsBreakdown } from '../../lib/statistics/breakdown-contract.ts';
import { getStats } from '../../lib/statistics/contract.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createObservation, createTransaction } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { givenPurchase } from '../../testing/given-purchase.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { createTestTable } from '../../testing/table.ts';

const toDate = (day: string): number => Date.parse(`${day}T10:00:00Z`);

interface GivenSubscription {
  readonly id: string;
  readonly start: string;
  readonly days: number;
  readonly fields?: Partial<Purchase>;
  readonly payment?: Partial<Transaction>;
}

/** Validates a subscription now. */
async function givenSubscription(
  { appName }: IssuedApiKeys,
  { id, start, days, fields = {}, payment = {} }: GivenSubscription,
): Promise<void> {
  const platform = fields.platform ?? 'store_a';
  const purchaseId = `${platform}:${id}`;
  const purchaseDate = toDate(start);
  const expirationDate = purchaseDate + days * dayMs;
  const { purchase } = createObservation({
    purchaseId,
    transactionId: purchaseId,
    purchaseDate,
    expirationDate,
    ...fields,
  });
  const transactions = [createTransaction(purchase, { purchaseDate, ...payment })];
  await givenPurchase(appName, 'ann', { asOf: Date.now(), purchase, transactions, userAliases: [] });
}

const yearly = 'store_b:yearly';

/** An id that is a script, longer than a key of the table can be, and starts like a formula of a spreadsheet. */
const oddProduct = `store_a:=<script>"'#%/🦊\n${'é'.repeat(700)}`;

const keys = startBeforeAll(async () => await givenApp(await createTestTable()));
beforeAll(async () => {
  // Two months before the range, and still active.
  await givenSubscription(keys, {
    id: '1',
    start: '2026-01-10',
    days: 20_000,
    fields: { platform: 'store_b', productId: yearly },
  });
  await givenSubscription(keys, { id: '2', start: '2026-03-02', days: 7 });
  const trial = {
    fields: { isTrialPeriod: true, productId: oddProduct },
    payment: { isTrialPeriod: true, amountMicros: 0 },
  };
  await givenSubscription(keys, { id: '3', start: '2026-03-03', days: 7, ...trial });
  await givenSubscription(keys, { id: '4', start: '2026-03-04', days: 7, ...trial });
  const paidAt = toDate('2026-03-11');
  await givenSubscription(keys, {
    id: '4',
    start: '2026-03-04',
    days: 14,
    fields: { productId: oddProduct, transactionId: 'store_a:4-2', lastRenewalDate: paidAt },
    payment: { purchaseDate: paidAt, currency: 'EUR', amountMicros: 9_990_000, usdRate: '1.1/1' },
  });
  await givenSubscription(keys, { id: '5', start: '2026-03-02', days: 20_000, fields: { sandbox: true } });
});

const marchWeeks = { startdate: '2026-03-02', enddate: '2026-03-15' };
const fetchBreakdown = async (query: Record<string, string>) =>
  (await callWithSecretKey(getStatsBreakdown, keys, { query })).body;

type LabeledRow = BreakdownRow & Omit<BreakdownGroup, 'rows'>;

/** Returns the rows of all groups, each with the platform and product of its group. */
const listRows = (groups: readonly BreakdownGroup[]): LabeledRow[] =>
  groups.flatMap(({ rows, ...labels }) => rows.map((row) => ({ ...labels, ...row })));
const fetchRows = async (query: Record<string, string>): Promise<LabeledRow[]> =>
  listRows((await fetchBreakdown(query)).groups);

describe('GET /v3/stats/breakdown', () => {
  it('returns active subscriptions and trials by week', async () => {
    const body = await fetchBreakdown({ ...marchWeeks, interval: 'week' });
    expect(body).toMatchObject({ interval: 'week', by: 'none' });
    expect(body).not.toHaveProperty('products');
    expect(body.groups).toMatchObject([
      {
        rows: [
          {
            date: '2026-03-02',
            enddate: '2026-03-08',
            numTransactions: 3,
            numPaidTransactions: 1,
            amountUSD: 4.99,
            activeSubscriptions: 4,
            activeTrials: 2,
            trialsStarted: 2,
            trialsConverted: 0,
            trialsEnded: 0,
            startedTrials: { converted: 1, ended: 1 },
          },
          {
            date: '2026-03-09',
            enddate: '2026-03-15',
            numTransactions: 1,
            amountMicros: { EUR: 9_990_000 },
            activeSubscriptions: 2,
            activeTrials: 0,
            trialsStarted: 0,
            trialsConverted: 1,
            trialsEnded: 1,
            startedTrials: { converted: 0, ended: 0 },
          },
        ],
      },
    ]);
  });

  it('returns a row for each platform', async () => {
    const rows = await fetchRows({ ...marchWeeks, interval: 'range', by: 'platform' });
    expect(rows).toMatchObject([
      { platform: 'store_a', activeSubscriptions: 1, numTransactions: 4, trialsStarted: 2 },
      { platform: 'store_b', activeSubscriptions: 1, numTransactions: 0, trialsStarted: 0 },
    ]);
  });

  it('returns a page of products with any characters in their ids', async () => {
    const query = { ...marchWeeks, interval: 'range', by: 'product' };
    const { groups, products } = await fetchBreakdown(query);
    expect(listRows(groups)).toMatchObject([
      { platform: 'store_a', productId: oddProduct, activeSubscriptions: 1, trialsStarted: 2, trialsConverted: 1 },
      { platform: 'store_a', productId: 'store_a:monthly', activeSubscriptions: 0, numTransactions: 1 },
      { platform: 'store_b', productId: yearly, activeSubscriptions: 1, numTransactions: 0 },
    ]);
    expect(products).toEqual({ skip: 0, limit: 100, total: 3 });
    const page = await fetchBreakdown({ ...query, skip: '1', limit: '1' });
    expect(page.groups).toEqual(groups.slice(1, 2));
    expect(page.products).toEqual({ skip: 1, limit: 1, total: 3 });
  });

  it.each(['day', 'month'])('adds up to the totals of GET /v3/stats by %s, for each dimension', async (interval) => {
    const range = { startdate: '2026-01-01', enddate: '2026-03-31' };
    const { dailyStats, monthlyStats } = (
      await callWithSecretKey(getStats, keys, { query: { ...range, include_notifications: 'true' } })
    ).body;
    const expected = interval === 'day' ? dailyStats : monthlyStats;
    for (const by of ['none', 'platform', 'product']) {
      const rows = await fetchRows({ ...range, interval, by });
      for (const [
        index,
        { date, numTransactions, numPaidTransactions, amountUSD, notifications },
      ] of expected.entries()) {
        const ofInterval = rows.filter((row) => row.date.startsWith(date));
        const sum = (read: (row: LabeledRow) => number) => ofInterval.reduce((total, row) => total + read(row), 0);
        expect([by, index, sum((row) => row.numTransactions)]).toEqual([by, index, numTransactions]);
        expect(sum((row) => row.numPaidTransactions)).toBe(numPaidTransactions);
        expect(sum((row) => row.amountUSD)).toBeCloseTo(amountUSD, 2);
        expect(sum((row) => row.notifications.PURCHASED ?? 0)).toBe(notifications.PURCHASED);
      }
    }
  });

  it('reduces the limit of products for a long range, and reports the reduced limit', async () => {
    const query = { startdate: '2020-01-01', enddate: '2026-03-31', by: 'product' };
    expect(await fetchBreakdown({ ...query, interval: 'day', limit: '1000' })).toMatchObject({
      products: { limit: 2 },
    });
    expect((await fetchBreakdown({ ...query, interval: 'month', limit: '1000' })).products.limit).toBe(13);
  });

  it('returns no rows if the start is after the end', async () => {
    const query = { startdate: '2026-03-02', enddate: '2026-03-01' };
    expect(await fetchRows(query)).toEqual([]);
    expect((await fetchBreakdown({ ...query, by: 'product' })).products.total).toBe(3);
  });

  it.each<Record<string, string>>([
    { interval: 'year' },
    { by: 'customer' },
    { startdate: '2016-01-01', enddate: '2026-01-08' },
    { startdate: '2020-01-01', enddate: '2026-01-01', by: 'platform' },
  ])('rejects %j', async (query) => {
    expect(await fetchBreakdown(query)).toMatchObject({ ok: false, status: 400, code: 'InvalidPayload' });
  });

  it('counts the reasons of subscriptions separately from the sandbox and one-time purchases', async () => {
    const app = await givenApp(await createTestTable());
    const today = new Date().toISOString().slice(0, 10);
    const bought = { start: today, days: 30 };
    await givenSubscription(app, { id: '1', ...bought });
    await givenSubscription(app, { id: '2', ...bought, fields: { sandbox: true } });
    await givenSubscription(app, { id: '3', ...bought, fields: { productType: 'non consumable' } });
    const { body } = await callWithSecretKey(getStatsBreakdown, app, { query: { startdate: today, enddate: today } });
    expect(body.groups[0].rows).toMatchObject([
      { notifications: { PURCHASED: 3 }, subscriptionNotifications: { PURCHASED: 1 }, activeSubscriptions: 1 },
    ]);
  });

  it('counts the sandbox only with sandbox=true, and never without it', async () => {
    const app = await givenApp(await createTestTable());
    const bought = { start: '2026-03-02', days: 20_000 };
    await givenSubscription(app, { id: '1', ...bought });
    const query = { startdate: '2026-03-02', enddate: '2026-03-02' };
    const fetchRow = async (choice: Record<string, string>) =>
      (await callWithSecretKey(getStatsBreakdown, app, { query: { ...query, ...choice } })).body.groups[0].rows[0];
    expect(await fetchRow({ sandbox: 'true' })).toMatchObject({ numTransactions: 0, activeSubscriptions: 0 });
    const trial = { isTrialPeriod: true, amountMicros: 0 };
    await givenSubscription(app, { id: '2', ...bought, fields: { sandbox: true } });
    await givenSubscription(app, {
      id: '3',
      ...bought,
      fields: { sandbox: true, isTrialPeriod: true },
      payment: trial,
    });
    const production = { amountUSD: 4.99, numTransactions: 1, numPaidTransactions: 1, activeSubscriptions: 1 };
    expect(await fetchRow({})).toMatchObject({ ...production, activeTrials: 0 });
    expect(await fetchRow({ sandbox: 'false' })).toMatchObject({ ...production, trialsStarted: 0 });
    expect(await fetchRow({ sandbox: 'true' })).toMatchObject({
      amountUSD: 4.99,
      numTransactions: 2,
      numPaidTransactions: 1,
      activeSubscriptions: 2,
      activeTrials: 1,
      trialsStarted: 1,
    });
    for (const by of ['platform', 'product']) {
      const { body } = await callWithSecretKey(getStatsBreakdown, app, { query: { ...query, by, sandbox: 'true' } });
      expect(body.groups).toMatchObject([{ rows: [{ amountUSD: 4.99, activeSubscriptions: 2 }] }]);
    }
  });

  it('counts the reasons of sandbox subscriptions separately', async () => {
    const app = await givenApp(await createTestTable());
    const today = new Date().toISOString().slice(0, 10);
    await givenSubscription(app, { id: '1', start: today, days: 30 });
    await givenSubscription(app, { id: '2', start: today, days: 30, fields: { sandbox: true } });
    const query = { startdate: today, sandbox: 'true', interval: 'range' };
    const { body } = await callWithSecretKey(getStatsBreakdown, app, { query });
    expect(body.groups[0].rows).toMatchObject([
      { notifications: { PURCHASED: 1 }, subscriptionNotifications: { PURCHASED: 1 } },
    ]);
  });
});
