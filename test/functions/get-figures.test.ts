import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Contract } from '../../lib/api/contract.ts';
import { changeSettings, type IssuedApiKeys, saveCatalogue } from '../../lib/apps/manage-apps.ts';
import { addBillingPeriods } from '../../lib/foundation/billing-period.ts';
import { addDays } from '../../lib/foundation/calendar.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { purchaseKey } from '../../lib/foundation/keys.ts';
import type { Purchase } from '../../lib/purchases/purchase.ts';
import type { Transaction } from '../../lib/purchases/transaction.ts';
import { getStatsBreakdown } from '../../lib/statistics/breakdown-contract.ts';
import { getConversion, getLtv, getRetention } from '../../lib/statistics/cohort-contract.ts';
import { type DailyStat, getStats } from '../../lib/statistics/contract.ts';
import { type ChurnRow, getChurn, getMrr, type MrrRow } from '../../lib/statistics/mrr-contract.ts';
import { getRevenue, type RevenueRow } from '../../lib/statistics/revenue-contract.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createObservation, createTransaction } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { aggregateItems, givenPurchase } from '../../testing/given-purchase.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { createTestTable } from '../../testing/table.ts';

const toDate = (day: string): number => Date.parse(`${day}T10:00:00Z`);

interface GivenPayment extends Partial<Transaction> {
  readonly day: string;
  readonly period?: string;
}

interface GivenSubscription extends Partial<Purchase> {
  readonly id: string;
  readonly payments: readonly GivenPayment[];
  readonly replacedPurchaseId?: string;
}

/** Records a subscription with its payments. */
async function givenSubscription(
  { appName }: IssuedApiKeys,
  user: string,
  { payments, id, replacedPurchaseId, ...fields }: GivenSubscription,
): Promise<void> {
  const purchaseId = `${fields.platform ?? 'store_a'}:${id}`;
  const periods = payments.map(({ day, period = 'P1M', ...payment }, index) => ({
    expirationDate: addBillingPeriods(toDate(day), period),
    ...payment,
    transactionId: `${purchaseId}-${index}`,
    purchaseDate: toDate(day),
  }));
  const last = periods.at(-1);
  const { purchase } = createObservation({
    purchaseId,
    productType: 'paid subscription',
    purchaseDate: periods[0]?.purchaseDate ?? 0,
    ...(last && { transactionId: last.transactionId, expirationDate: last.expirationDate }),
    ...fields,
  });
  const transactions = periods.map((period) => createTransaction(purchase, { amountMicros: 10_000_000, ...period }));
  await givenPurchase(appName, user, {
    asOf: Date.now(),
    purchase,
    transactions,
    userAliases: [],
    ...(replacedPurchaseId && { replacedPurchaseId }),
  });
}

const keys = startBeforeAll(async () => await givenApp(await createTestTable()));
beforeAll(async () => {
  // Paid for January and February 2025, and again from May on.
  await givenSubscription(keys, 'ann', {
    id: '1',
    payments: [
      { day: '2025-01-10', storefront: 'USA' },
      { day: '2025-02-10', storefront: 'USA' },
      { day: '2025-05-10', storefront: 'USA', amountMicros: 12_000_000 },
    ],
  });
  // Changes to a yearly plan after a month. The payment of the renewal fails.
  await givenSubscription(keys, 'bob', {
    id: '2',
    platform: 'store_b',
    productId: 'store_b:yearly',
    cancelationReason: 'System.BillingError',
    payments: [
      { day: '2025-01-20', storefront: 'DE', productId: 'store_b:monthly', platform: 'store_b' },
      { day: '2025-02-20', storefront: 'DE', amountMicros: 60_000_000, period: 'P1Y', platform: 'store_b' },
    ],
  });
});

const converted = { unconvertedShare: 0 };
const year = { startdate: '2025-01-01', enddate: '2025-06-30' };

describe('GET /v3/stats/mrr', () => {
  it('returns the recurring revenue of each month with its movement', async () => {
    const { body } = await callWithSecretKey(getMrr, keys, { query: year });
    const none = { new: 0, expansion: 0, contraction: 0, churned: 0, reactivated: 0, exchange: 0 };
    expect(body).toEqual({
      countedUntil: expect.stringMatching(/^\d{4}-.*Z$/),
      interval: 'month',
      by: 'none',
      amount: 'after_refunds',
      unconvertedShare: 0,
      totals: {
        date: '2025-01-01',
        mrrUSD: 5,
        arrUSD: 60,
        movement: { ...none, new: 20, contraction: 5, reactivated: 12, churned: 22 },
        ...converted,
      },
      rows: [
        { date: '2025-01-01', mrrUSD: 20, arrUSD: 240, movement: { ...none, new: 20 }, ...converted },
        { date: '2025-02-01', mrrUSD: 15, arrUSD: 180, movement: { ...none, contraction: 5 }, ...converted },
        { date: '2025-03-01', mrrUSD: 5, arrUSD: 60, movement: { ...none, churned: 10 }, ...converted },
        { date: '2025-04-01', mrrUSD: 5, arrUSD: 60, movement: none, ...converted },
        { date: '2025-05-01', mrrUSD: 17, arrUSD: 204, movement: { ...none, reactivated: 12 }, ...converted },
        { date: '2025-06-01', mrrUSD: 5, arrUSD: 60, movement: { ...none, churned: 12 }, ...converted },
      ],
    });
  });

  it('returns proceeds after the commission of the store', async () => {
    const { body } = await callWithSecretKey(getMrr, keys, {
      query: { startdate: '2025-01-31', enddate: '2025-01-31', amount: 'proceeds' },
    });
    // 30 % in the first year at store_a, 15 % at store_b.
    expect(body).toMatchObject({ proceedsSource: 'estimated', rows: [{ mrrUSD: 15.5 }] });
  });

  it('computes proceeds with the tax that the store reports', async () => {
    const app = await givenApp(await createTestTable());
    const taxed = { day: '2025-01-10', amountMicros: 12_000_000, taxMicros: 2_000_000 };
    await givenSubscription(app, 'ann', { id: 'tax', platform: 'processor_a', payments: [taxed] });
    const read = async () =>
      (
        await callWithSecretKey(getMrr, app, {
          query: { startdate: '2025-01-31', enddate: '2025-01-31', amount: 'proceeds' },
        })
      ).body;
    // 12.00 - 2.00 - 2.9 % of 12.00.
    expect(await read()).toMatchObject({ proceedsSource: 'table', rows: [{ mrrUSD: 9.65 }] });
    await givenSubscription(app, 'bob', { id: 'no-tax', payments: [{ day: '2025-01-11' }] });
    expect(await read()).toMatchObject({ proceedsSource: 'estimated', rows: [{ mrrUSD: 16.65 }] });
  });

  it.each([
    // 12.00 - 2.00 - 2.9 % of 12.00.
    ['of a plan that a credit pays', { taxMicros: 2_000_000 }, { proceedsSource: 'table', rows: [{ mrrUSD: 9.65 }] }],
    ['unless it is not known', {}, { proceedsSource: 'estimated', rows: [{ mrrUSD: 11.65 }] }],
  ])('computes proceeds with the tax %s', async (_case, tax, expected) => {
    const app = await givenApp(await createTestTable());
    const upgraded = { day: '2025-01-10', amountMicros: 24_000_000, taxMicros: 4_000_000 };
    const plan = { amountMicros: 12_000_000, period: 'P1M', ...tax };
    const credited = { day: '2025-02-10', amountMicros: 0, taxMicros: 0, plan };
    await givenSubscription(app, 'ann', { id: 'tax', platform: 'processor_a', payments: [upgraded, credited] });
    const query = { startdate: '2025-02-28', enddate: '2025-02-28', amount: 'proceeds' };
    expect((await callWithSecretKey(getMrr, app, { query })).body).toMatchObject(expected);
  });

  it('states which part of the subscriptions and payments has no exchange rate', async () => {
    const app = await givenApp(await createTestTable());
    await givenSubscription(app, 'ann', { id: 'usd', payments: [{ day: '2025-01-10' }] });
    const dong = { currency: 'VND', amountMicros: 265_000_000_000, storefront: 'VNM' };
    const payments = [
      { day: '2025-01-12', ...dong },
      { day: '2025-02-12', ...dong },
    ];
    await givenSubscription(app, 'bob', { id: 'vnd', payments });
    const query = { startdate: '2025-01-01', enddate: '2025-03-31', by: 'country' };
    const { body: mrr } = await callWithSecretKey(getMrr, app, { query });
    expect(mrr).toMatchObject({
      unconvertedShare: 0.666667,
      rows: [
        { mrrUSD: 10, unconvertedShare: 0.5 },
        { mrrUSD: 0, unconvertedShare: 1 },
        { mrrUSD: 0, unconvertedShare: 0 },
      ],
      groups: [
        { country: 'VN', unconvertedShare: 1 },
        { country: 'ZZ', unconvertedShare: 0 },
      ],
    });
    const { body: churn } = await callWithSecretKey(getChurn, app, { query });
    expect(churn.rows.map((row: ChurnRow) => row.unconvertedShare)).toEqual([0, 0.5, 1]);
    for (const contract of [getRetention, getLtv])
      expect((await callWithSecretKey(contract, app, { query })).body).toMatchObject({ unconvertedShare: 0.666667 });
    const range = { startdate: '2025-01-01', enddate: '2025-01-31', interval: 'range' };
    const { body: stats } = await callWithSecretKey(getStats, app, { query: { ...range, startdate: '2025-01-12' } });
    expect(stats.dailyStats[0]).toMatchObject({ unconvertedShare: 1, amountUSD: 0 });
    expect(stats.dailyStats[1]).not.toHaveProperty('unconvertedShare');
    for (const by of ['none', 'platform'])
      expect((await callWithSecretKey(getStatsBreakdown, app, { query: { ...range, by } })).body.groups).toMatchObject([
        { rows: [{ unconvertedShare: 0.5, numPaidTransactions: 2 }] },
      ]);
  });

  it.each([
    ['platform', [{ platform: 'store_a' }, { platform: 'store_b' }], [10, 5]],
    ['country', [{ country: 'DE' }, { country: 'US' }], [5, 10]],
    [
      'product',
      [{ productId: 'store_a:monthly' }, { productId: 'store_b:monthly' }, { productId: 'store_b:yearly' }],
      [10, 0, 5],
    ],
  ])('groups by %s', async (by, segments, amounts) => {
    const query = { startdate: '2025-02-01', enddate: '2025-02-28', by };
    const { body } = await callWithSecretKey(getMrr, keys, { query });
    expect(body.groups).toMatchObject(segments);
    expect(body.groups?.map((group: { readonly rows: readonly MrrRow[] }) => group.rows[0]?.mrrUSD)).toEqual(amounts);
  });
});

describe('GET /v3/stats/revenue', () => {
  const year = { startdate: '2025-01-01', enddate: '2025-12-31' };
  const readRevenue = async (app: IssuedApiKeys, query: object) =>
    (await callWithSecretKey(getRevenue, app, { query: { ...year, ...query } })).body;

  it('returns payments, refunds, commission, tax and proceeds on their own days, by currency', async () => {
    const app = await givenApp(await createTestTable());
    const euros = { currency: 'EUR', usdRate: '1.1/1', taxMicros: 2_000_000 };
    const partialRefunds = [{ id: 're', date: toDate('2025-04-02'), amountMicros: 3_000_000 }];
    const payments = [
      { day: '2025-02-10', amountMicros: 12_000_000, ...euros, usdRateDate: '2025-02-09', partialRefunds },
      {
        day: '2025-03-10',
        amountMicros: 12_000_000,
        ...euros,
        usdRateDate: '2025-03-09',
        refundedAt: toDate('2025-03-11'),
      },
    ];
    await givenSubscription(app, 'ann', { id: '1', platform: 'processor_a', payments });
    const dong = { currency: 'VND', amountMicros: 265_000_000_000 };
    await givenSubscription(app, 'bob', { id: '2', payments: [{ day: '2025-02-20', ...dong }] });
    const first = await readRevenue(app, { interval: 'quarter' });
    // 12.00 - 2.00 - 2.9 % of 12.00; the refund of a quarter returns its part of the tax and of the commission.
    const euro = { grossMicros: 12_000_000, commissionMicros: 348_000, taxMicros: 2_000_000 };
    expect(first).toEqual({
      countedUntil: expect.any(String),
      interval: 'quarter',
      by: 'none',
      proceedsSource: 'estimated',
      unconvertedShare: 0.333333,
      totals: expect.objectContaining({ date: '2025-01-01', grossUSD: 26.4, refundsUSD: 16.5, proceedsUSD: 7.9629 }),
      rows: [
        {
          date: '2025-01-01',
          grossUSD: 26.4,
          refundsUSD: 13.2,
          commissionUSD: 0.3828,
          taxUSD: 2.2,
          proceedsUSD: 10.6172,
          unconvertedShare: 0.333333,
          currencies: {
            EUR: { ...euro, grossMicros: 24_000_000, refundsMicros: 12_000_000, proceedsMicros: 9_652_000 },
            VND: {
              grossMicros: 265_000_000_000,
              refundsMicros: 0,
              commissionMicros: 79_500_000_000,
              taxMicros: 0,
              proceedsMicros: 185_500_000_000,
            },
          },
        },
        {
          date: '2025-04-01',
          grossUSD: 0,
          refundsUSD: 3.3,
          commissionUSD: -0.0957,
          taxUSD: -0.55,
          proceedsUSD: -2.6543,
          unconvertedShare: 0,
          currencies: {
            EUR: {
              grossMicros: 0,
              refundsMicros: 3_000_000,
              commissionMicros: -87_000,
              taxMicros: -500_000,
              proceedsMicros: -2_413_000,
            },
          },
        },
        ...['2025-07-01', '2025-10-01'].map((date) => ({
          date,
          ...{ grossUSD: 0, refundsUSD: 0, commissionUSD: 0, taxUSD: 0, proceedsUSD: 0 },
          unconvertedShare: 0,
          currencies: {},
        })),
      ],
    });
  });

  it.each(['day', 'week', 'month', 'quarter', 'range'])('returns the sums of GET /v3/stats by %s', async (interval) => {
    const { rows } = await readRevenue(keys, { interval });
    const { body } = await callWithSecretKey(getStats, keys, { query: year });
    const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
    expect(sum(rows.map(({ grossUSD, refundsUSD }: RevenueRow) => grossUSD - refundsUSD))).toBe(102);
    expect(sum(body.dailyStats.map(({ amountUSD }: DailyStat) => amountUSD))).toBe(102);
  });

  it.each([
    ['platform', [32, 70]],
    ['country', [70, 32]],
    ['product', [32, 10, 60]],
  ])('groups by %s', async (by, expected) => {
    const { groups } = await readRevenue(keys, { interval: 'range', by });
    expect(groups.map((group: { readonly rows: readonly RevenueRow[] }) => group.rows[0]?.grossUSD)).toEqual(expected);
  });
});

describe('figures of a plan change', () => {
  const none = { new: 0, expansion: 0, contraction: 0, churned: 0, reactivated: 0, exchange: 0 };
  const readMonths = async (app: IssuedApiKeys) => {
    const query = { startdate: '2025-03-01', enddate: '2025-05-31' };
    const { body: mrr } = await callWithSecretKey(getMrr, app, { query });
    const { body: churn } = await callWithSecretKey(getChurn, app, { query: { ...query, by: 'product' } });
    return { mrr: mrr.rows, churn: churn.rows, groups: churn.groups };
  };
  const old = { id: 'old', platform: 'store_b', productId: 'store_b:basic' } as const;
  const basic = {
    day: '2025-03-20',
    productId: 'store_b:basic',
    platform: 'store_b',
    amountMicros: 5_000_000,
  } as const;
  const replaced = { cancelationReason: 'System.Replaced', endedAt: toDate('2025-03-30') } as const;
  const pro = { ...basic, day: '2025-03-30', productId: 'store_b:pro', amountMicros: 10_000_000 } as const;
  const successor = {
    id: 'new',
    platform: 'store_b',
    productId: 'store_b:pro',
    replacedPurchaseId: 'store_b:old',
  } as const;

  it.each([
    ['before', 1],
    ['after', 0],
  ])('count no churn if the new purchase is stored %s the end of the old one', async (_order, position) => {
    const app = await givenApp(await createTestTable());
    await givenSubscription(app, 'ann', { ...old, payments: [basic] });
    const changes = [{ ...successor, payments: [pro, { ...pro, day: '2025-04-30' }] }];
    changes.splice(position, 0, { ...old, ...replaced, payments: [basic] } as never);
    for (const change of changes) await givenSubscription(app, 'ann', change);
    const { mrr, churn, groups } = await readMonths(app);
    expect(mrr).toEqual([
      { date: '2025-03-01', mrrUSD: 10, arrUSD: 120, movement: { ...none, new: 5, expansion: 5 }, ...converted },
      { date: '2025-04-01', mrrUSD: 10, arrUSD: 120, movement: none, ...converted },
      { date: '2025-05-01', mrrUSD: 0, arrUSD: 0, movement: { ...none, churned: 10 }, ...converted },
    ]);
    expect(churn).toMatchObject([{ churned: 0 }, { churned: 0 }, { churned: 1, voluntary: 1 }]);
    const counts = groups?.flatMap(({ rows }: { rows: readonly ChurnRow[] }) =>
      rows.flatMap(({ churned, voluntary, activeAtStart }) => [churned, voluntary, activeAtStart]),
    );
    expect(counts?.filter((count: number) => count < 0)).toEqual([]);
  });

  it('use the price of the plan, not the prorated payment', async () => {
    const app = await givenApp(await createTestTable());
    const plan = { amountMicros: 20_000_000, period: 'P1M' };
    await givenSubscription(app, 'ann', {
      id: 'upgrade',
      platform: 'processor_a',
      payments: [
        { day: '2025-03-01' },
        { day: '2025-03-16', amountMicros: 5_160_000, expirationDate: toDate('2025-04-01'), plan },
        { day: '2025-04-01', amountMicros: 20_000_000 },
      ],
    });
    const { mrr } = await readMonths(app);
    expect(mrr).toMatchObject([
      { mrrUSD: 20, movement: { ...none, new: 10, expansion: 10 }, ...converted },
      { mrrUSD: 20, movement: none, ...converted },
      { mrrUSD: 0, movement: { ...none, churned: 20 }, ...converted },
    ]);
  });

  it('use the price of the plan while a credit pays for it', async () => {
    const app = await givenApp(await createTestTable());
    const plan = { amountMicros: 10_000_000, period: 'P1M' };
    await givenSubscription(app, 'ann', {
      id: 'downgrade',
      platform: 'processor_a',
      payments: [
        { day: '2025-03-01', amountMicros: 20_000_000 },
        { day: '2025-03-16', amountMicros: 0, expirationDate: toDate('2025-04-01'), plan },
        { day: '2025-04-01', amountMicros: 4_840_000, plan },
      ],
    });
    const { mrr } = await readMonths(app);
    expect(mrr).toMatchObject([
      { mrrUSD: 10, movement: { ...none, new: 20, contraction: 10 }, ...converted },
      { mrrUSD: 10, movement: none, ...converted },
      { mrrUSD: 0, movement: { ...none, churned: 10 }, ...converted },
    ]);
    const { body: ltv } = await callWithSecretKey(getLtv, app, { query: { startdate: '2025-03-01' } });
    expect(ltv.cohorts[0].ages.slice(0, 2)).toMatchObject([{ revenuePerPayerUSD: 20 }, { revenuePerPayerUSD: 24.84 }]);
  });

  it.each([
    ['a full refund of the prorated payment', 5_160_000, 10],
    ['a refund of a half of the prorated payment', 2_580_000, 15],
  ])('keep the recurring revenue of the days before %s', async (_case, refundMicros, kept) => {
    const app = await givenApp(await createTestTable());
    const plan = { amountMicros: 20_000_000, period: 'P1M' };
    const date = toDate('2025-03-20');
    const refund =
      kept === 10 ? { refundedAt: date } : { partialRefunds: [{ id: 're', date, amountMicros: refundMicros }] };
    const upgrade = { day: '2025-03-16', amountMicros: 5_160_000, expirationDate: toDate('2025-04-01'), plan };
    const payments = [{ day: '2025-03-01' }, { ...upgrade, isRenewal: false, ...refund }];
    const subscription = { id: 'refunded', platform: 'processor_a' } as const;
    const transactionId = 'processor_a:refunded-0';
    await givenSubscription(app, 'ann', { ...subscription, transactionId, payments });
    const read = async (contract: Contract, amount: string) => {
      const query = { startdate: '2025-03-15', enddate: '2025-04-02', interval: 'day', amount };
      return (await callWithSecretKey(contract, app, { query })).body.rows;
    };
    const rows = await read(getMrr, 'after_refunds');
    const mrr = rows.map(({ mrrUSD }: MrrRow) => mrrUSD);
    expect(mrr).toEqual([10, ...Array(4).fill(20), ...Array(12).fill(kept), 0, 0]);
    expect(rows[5].movement).toEqual({ ...none, contraction: 20 - kept });
    expect(rows[17].movement).toEqual({ ...none, churned: kept });
    const gross = (await read(getMrr, 'before_refunds')).map(({ mrrUSD }: MrrRow) => mrrUSD);
    expect(gross).toEqual([10, ...Array(16).fill(20), 0, 0]);
    const churned = (await read(getChurn, 'after_refunds')).flatMap(({ churned, date }: ChurnRow) =>
      churned ? date : [],
    );
    expect(churned).toEqual(['2025-04-01']);
  });

  it('keep the recurring revenue of the days before an upgrade that cuts the period', async () => {
    const app = await givenApp(await createTestTable());
    const subscription = { id: 'cut', productId: 'store_a:pro' };
    await givenSubscription(app, 'ann', { ...subscription, payments: [{ day: '2025-03-01' }] });
    const cut = { day: '2025-03-01', expirationDate: toDate('2025-03-16'), isReplaced: true };
    const upgrade = { day: '2025-03-16', amountMicros: 20_000_000, productId: 'store_a:pro' };
    await givenSubscription(app, 'ann', { ...subscription, payments: [cut, upgrade] });
    const { body } = await callWithSecretKey(getMrr, app, {
      query: { startdate: '2025-03-15', enddate: '2025-03-16', interval: 'day' },
    });
    expect(body.rows).toMatchObject([
      { mrrUSD: 10, movement: none, ...converted },
      { mrrUSD: 20, movement: { ...none, expansion: 10 }, ...converted },
    ]);
  });
});

describe('figures of the sandbox', () => {
  it('contain payments of the sandbox only, and their customers are payers in both', async () => {
    const app = await givenApp(await createTestTable());
    await givenSubscription(app, 'ann', { id: '1', sandbox: true, payments: [{ day: '2025-01-10' }] });
    await givenSubscription(app, 'ann', { id: '2', payments: [{ day: '2025-01-11' }, { day: '2025-02-11' }] });
    const query = { startdate: '2025-01-01', enddate: '2025-02-28' };
    const read = async (contract: Parameters<typeof callWithSecretKey>[0], sandbox: string) =>
      (await callWithSecretKey(contract, app, { query: { ...query, sandbox } })).body;
    expect(await read(getMrr, 'false')).toMatchObject({ rows: [{ mrrUSD: 10 }, { mrrUSD: 10 }] });
    expect(await read(getMrr, 'true')).toMatchObject({ rows: [{ mrrUSD: 10 }, { mrrUSD: 0 }] });
    for (const sandbox of ['false', 'true'])
      expect(await read(getLtv, sandbox)).toMatchObject({ cohorts: [{ customers: 1, payers: 1 }, { payers: 0 }] });
  });
});

describe('GET /v3/stats/conversion', () => {
  it('counts a payment after a trial in the month of the trial', async () => {
    const app = await givenApp(await createTestTable());
    const trial = { isTrialPeriod: true, amountMicros: 0, period: 'P1W' };
    await givenSubscription(app, 'eve', {
      id: '3',
      payments: [{ day: '2025-03-28', ...trial }, { day: '2025-04-04' }],
    });
    await givenSubscription(app, 'dan', { id: '4', isTrialPeriod: true, payments: [{ day: '2025-03-29', ...trial }] });
    const { body } = await callWithSecretKey(getConversion, app, {
      query: { startdate: '2025-03-01', enddate: '2025-04-30' },
    });
    expect(body.cohorts).toMatchObject([
      { start: '2025-03-01', trials: 2, converted: 1, conversionRate: 0.5 },
      { start: '2025-04-01', trials: 0, converted: 0, conversionRate: 0, customers: 1, payers: 1 },
    ]);
  });
});

describe('filters of figures', () => {
  const figures = [getMrr, getChurn, getRetention, getLtv, getConversion, getRevenue];
  const month = { startdate: '2025-02-01', enddate: '2025-02-28' };
  let app: IssuedApiKeys;
  beforeAll(async () => {
    app = await givenApp(await createTestTable());
    await saveCatalogue(getService(), app.appName, {
      basic: { type: 'paid subscription', entitlements: ['premium'] },
      pro: { type: 'paid subscription', entitlements: ['premium', 'offline'] },
      other: { type: 'paid subscription' },
    });
    const buy = async (id: string, ...payments: readonly GivenPayment[]) =>
      await givenSubscription(app, `user-${id}`, {
        id,
        ...(payments[0]?.productId && { productId: payments[0].productId }),
        payments,
      });
    const product = (name: string, storefront: string, dollars: number) => ({
      productId: `store_a:${name}`,
      storefront,
      amountMicros: dollars * 1_000_000,
    });
    // Changes from basic to pro in Germany, then moves with it to France.
    await buy(
      '1',
      { day: '2025-01-10', ...product('basic', 'DEU', 5) },
      { day: '2025-02-10', ...product('pro', 'DEU', 12) },
      { day: '2025-03-10', ...product('pro', 'FRA', 12) },
    );
    await buy(
      '2',
      { day: '2025-01-20', ...product('basic', 'USA', 5) },
      { day: '2025-02-20', ...product('basic', 'USA', 5) },
    );
    await buy('3', { day: '2025-02-05', ...product('other', 'DEU', 7) });
  });
  const read = async (contract: Contract, query: Readonly<Record<string, string>>) =>
    (await callWithSecretKey(contract, app, { query: { ...month, ...query } })).body;

  it('cause an error until the payments of an earlier release are counted for them', async () => {
    const partition = purchaseKey.partition(app.appName, 'store_a:1');
    const items = await getService().table.query({ partition });
    const earlier = items.map(({ figures, ...item }) => {
      const { isByCell: _isByCell, ...others } = Object(figures);
      return { ...item, ...(figures !== undefined && { figures: others }) };
    });
    const readAll = async () =>
      await Promise.all(['product', 'country'].map(async (by) => await read(getMrr, { by, enddate: '2025-03-31' })));
    const expected = (await readAll()).map(({ groups, totals }) => ({ groups, totals }));
    await aggregateItems(earlier, items);
    expect(await readAll()).toMatchObject(expected);
    expect(await read(getMrr, { country: 'DE' })).toMatchObject({
      code: 'InvalidPayload',
      message: expect.stringContaining('stats recount --from <day> --to <day> --correct'),
    });
    await aggregateItems(items, earlier);
    expect(await readAll()).toMatchObject(expected);
    expect(await read(getMrr, { country: 'DE' })).toMatchObject({ rows: [{ mrrUSD: 19 }] });
  });

  it.each([
    // A change between two products of the filter is expansion by the difference only.
    [{}, 24, { new: 7, expansion: 7 }],
    [{ entitlement: 'premium' }, 17, { expansion: 7 }],
    [{ entitlement: 'offline' }, 12, { expansion: 12 }],
    [{ product: 'store_a:basic' }, 5, { contraction: 5 }],
    [{ country: 'DE' }, 19, { new: 7, expansion: 7 }],
    [{ country: 'DE', product: 'store_a:pro' }, 12, { expansion: 12 }],
    [{ country: 'DE', entitlement: 'premium', platform: 'store_a' }, 12, { expansion: 7 }],
    [{ platform: 'store_b' }, 0, {}],
    [{ platform: 'store_b', product: 'store_a:pro' }, 0, {}],
    [{ country: 'JP' }, 0, {}],
    [{ country: 'FR', startdate: '2025-03-01', enddate: '2025-03-31' }, 12, { expansion: 12 }],
    // The end of the other subscriptions.
    [{ entitlement: 'premium', startdate: '2025-03-01', enddate: '2025-03-31' }, 12, { churned: 5 }],
    [{ country: 'DE', startdate: '2025-03-01', enddate: '2025-03-31' }, 0, { contraction: 12, churned: 7 }],
  ])('count only what matches %j', async (filters, mrrUSD, movement) => {
    const none = { new: 0, expansion: 0, contraction: 0, churned: 0, reactivated: 0, exchange: 0 };
    for (const by of ['none', 'platform', 'product', 'country', 'entitlement']) {
      const body = await read(getMrr, { ...filters, by });
      expect(body).toMatchObject({ rows: [{ mrrUSD, movement: { ...none, ...movement } }] });
      expect(body.rows[0]).toEqual(body.totals);
      const sum = (body.groups ?? []).reduce(
        (total: number, { totals }: { totals: MrrRow }) => total + totals.mrrUSD,
        0,
      );
      if (by === 'platform' || by === 'product' || by === 'country') expect(sum).toBe(mrrUSD);
    }
  });

  it('state themselves in each figure, and apply to the cohorts', async () => {
    const filters = { country: 'DE', entitlement: 'premium' };
    for (const contract of figures) expect(await read(contract, filters)).toMatchObject({ filters });
    const query = { ...filters, startdate: '2025-01-01' };
    const [retention, ltv, revenue] = [
      await read(getRetention, query),
      await read(getLtv, query),
      await read(getRevenue, query),
    ];
    // The cohort keeps the country and the product of its first payment.
    const [{ size, periods }] = retention.cohorts;
    expect({ size, periods: periods.slice(0, 3) }).toMatchObject({
      size: 1,
      periods: [{ revenueUSD: 5 }, { active: 1, revenueUSD: 12 }, { revenueUSD: 12 }],
    });
    expect(ltv.cohorts).toContainEqual(expect.objectContaining({ payers: 1 }));
    expect(revenue).toMatchObject({ totals: { grossUSD: 17 }, rows: [{ grossUSD: 5 }, { grossUSD: 12 }] });
  });

  it('accept the brand names that responses to an app with the brand vocabulary have', async () => {
    const brandApp = await givenApp(await createTestTable());
    await changeSettings(getService(), brandApp.appName, { vocabulary: 'brand' });
    await givenSubscription(brandApp, 'ann', { id: '1', payments: [{ day: '2025-02-05' }] });
    const query = { ...month, by: 'product' };
    const [{ platform, productId }] = (await callWithSecretKey(getMrr, brandApp, { query })).body.groups;
    const filters = { platform, product: productId };
    expect(filters).toEqual({ platform: 'apple', product: 'apple:monthly' });
    for (const contract of figures)
      expect((await callWithSecretKey(contract, brandApp, { query: { ...month, ...filters } })).body).toMatchObject({
        filters,
      });
  });

  it('page the matching products, with the total of all of them', async () => {
    const query = { entitlement: 'premium', by: 'product', limit: '1', skip: '1' };
    expect(await read(getMrr, query)).toMatchObject({
      products: { skip: 1, limit: 1, total: 2 },
      rows: [{ mrrUSD: 17 }],
      groups: [{ productId: 'store_a:pro', rows: [{ mrrUSD: 12 }] }],
    });
  });

  it.each([
    { platform: 'store_x' },
    { product: 'store_a:nothing' },
    { country: 'QQ' },
    { country: 'Germany' },
    { entitlement: 'nothing' },
  ])('reject the unknown value %j', async (filter) => {
    for (const contract of figures) {
      const { status, body } = await callWithSecretKey(contract, app, { query: { ...month, ...filter } });
      expect({ status, body }).toMatchObject({ status: 400, body: { code: 'InvalidPayload' } });
      expect(body.message).toContain(Object.keys(filter)[0]);
    }
  });
});

describe('exchange rates in figures', () => {
  it('add a movement separately from expansion and contraction', async () => {
    const app = await givenApp(await createTestTable());
    const pay = (day: string, euros: number, usdRate: string) => ({
      ...{ day, amountMicros: euros * 1_000_000, currency: 'EUR', usdRate },
      usdRateDate: addDays(day, -1),
    });
    const payments = [pay('2025-01-10', 10, '1.1/1'), pay('2025-02-10', 10, '1.05/1'), pay('2025-03-10', 12, '1.2/1')];
    await givenSubscription(app, 'ann', { id: '1', payments });
    for (const [amount, share] of [
      ['before_refunds', 1],
      ['proceeds', 0.7],
    ] as const) {
      const query = { startdate: '2025-01-01', enddate: '2025-03-31', amount };
      const { body } = await callWithSecretKey(getMrr, app, { query });
      const near = (usd: number) => expect.closeTo(usd * share, 6);
      expect(body.rows).toMatchObject([
        { mrrUSD: near(11), movement: { new: near(11), exchange: 0 } },
        { mrrUSD: near(10.5), movement: { expansion: 0, contraction: 0, exchange: near(-0.5) } },
        // 2 euros more at the new rate, and 10 euros that are worth 1.50 dollars more.
        { mrrUSD: near(14.4), movement: { expansion: near(2.4), contraction: 0, exchange: near(1.5) } },
      ]);
      expect(body.totals.movement).toMatchObject({ expansion: near(2.4), contraction: 0, exchange: near(1) });
    }
  });
});

describe('totals of figures', () => {
  it.each(['day', 'week', 'month', 'range'])('equal the exact sum of the range by %s', async (interval) => {
    const app = await givenApp(await createTestTable());
    for (const [index, day] of ['2025-01-05', '2025-01-15', '2025-02-15'].entries())
      await givenSubscription(app, `user-${index}`, {
        id: String(index),
        payments: [{ day, amountMicros: 1_003_334 }],
      });
    const query = { startdate: '2025-01-01', enddate: '2025-02-28', interval };
    const read = async (contract: Contract) => (await callWithSecretKey(contract, app, { query })).body;
    expect((await read(getStatsBreakdown)).groups[0].totals.amountUSD).toBe(3.010002);
    expect((await read(getRevenue)).totals.grossUSD).toBe(3.010002);
    expect((await read(getMrr)).totals).toMatchObject({
      mrrUSD: 1.003334,
      movement: { new: 3.010002, churned: 2.006668 },
    });
    expect((await read(getChurn)).totals).toMatchObject({ activeAtStart: 0, churned: 2, churnedMrrUSD: 2.006668 });
  });
});
