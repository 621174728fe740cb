import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createFolderTarget } from '../../../cli/export/folder-target.ts';
import { getApp, saveCatalogue } from '../../../lib/apps/manage-apps.ts';
import { exportApp } from '../../../lib/export/export-app.ts';
import { addBillingPeriods } from '../../../lib/foundation/billing-period.ts';
import { getService } from '../../../lib/foundation/get-service.ts';
import { platforms } from '../../../lib/foundation/platform.ts';
import type { Table } from '../../../lib/foundation/table.ts';
import { dayMs, hourMs, minuteMs } from '../../../lib/foundation/time.ts';
import { toUtcDay } from '../../../lib/money/rates.ts';
import type { Purchase } from '../../../lib/purchases/purchase.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import type { ConversionCohort, LtvCohort, RetentionCohort } from '../../../lib/statistics/cohort-contract.ts';
import { getConversion, getLtv, getRetention } from '../../../lib/statistics/cohort-contract.ts';
import type { ChurnRow, MrrRow } from '../../../lib/statistics/mrr-contract.ts';
import { getChurn, getMrr } from '../../../lib/statistics/mrr-contract.ts';
import { getRevenue, type RevenueRow } from '../../../lib/statistics/revenue-contract.ts';
import { callWithSecretKey } from '../../../testing/call.ts';
import { createExportService } from '../../../testing/export-service.ts';
import { createObservation, createTransaction } from '../../../testing/given.ts';
import { givenApp } from '../../../testing/given-app.ts';
import { givenPurchase } from '../../../testing/given-purchase.ts';
import { sampleRuns } from '../../../testing/sample.ts';
import { createTestTable } from '../../../testing/table.ts';

const start = Date.parse('2024-01-01T00:00:00Z');
const end = Date.parse('2025-12-31T00:00:00Z');

const arbitraryPayment = fc.record({
  /** What precedes the payment: the end of the period before, an interruption, or a change of plan in the period. */
  kind: fc.constantFrom('renewal', 'renewal', 'renewal', 'interruption', 'plan'),
  hours: fc.integer({ min: 2, max: 900 }),
  /** Hours from the start of a renewed period to its payment. */
  delay: fc.constantFrom(0, 0, 0, -24, 120),
  period: fc.constantFrom('P1W', 'P10D', 'P1M', 'P1M', 'P3M', 'P6M', 'P1Y'),
  // Large enough for parts of it to be less than the payment.
  cents: fc.oneof(fc.integer({ min: 10, max: 20_000 }), fc.constant(999)),
  currency: fc.constantFrom('USD', 'EUR', 'EUR', 'GBP', 'JPY'),
  usdRate: fc.constantFrom('1.0837/1', '1.1/1', '1.2113/1'),
  refund: fc.option(fc.record({ hours: fc.nat(1_200), share: fc.constantFrom(0.3, 0.7, 1) }), { freq: 5 }),
});

const arbitrarySubscription = fc.record({
  platform: fc.constantFrom(...platforms),
  productId: fc.constantFrom('basic', 'pro'),
  storefront: fc.constantFrom('USA', 'DEU'),
  startHour: fc.nat(500 * 24),
  hasTrial: fc.boolean(),
  hasFailed: fc.boolean(),
  sandbox: fc.constantFrom(false, false, false, false, true),
  payments: fc.array(arbitraryPayment, { minLength: 1, maxLength: 12 }),
  /** Number of payments in the first observation. */
  firstSize: fc.integer({ min: 1, max: 12 }),
});
type Subscription = typeof arbitrarySubscription extends fc.Arbitrary<infer T> ? T : never;

/** Builds the transactions of a subscription, all of which have ended or started before `end`. */
function buildTransactions(
  purchase: Purchase,
  { payments, hasTrial, startHour, storefront }: Subscription,
): Transaction[] {
  const transactions: Transaction[] = [];
  let expirationDate = start + startHour * hourMs;
  let purchaseDate = expirationDate;
  const add = ({ periodStartDate = purchaseDate, ...fields }: Partial<Transaction>, period: string): void => {
    expirationDate = addBillingPeriods(periodStartDate, period);
    const transactionId = `${purchase.purchaseId}-${transactions.length}`;
    transactions.push(
      createTransaction(purchase, {
        transactionId,
        purchaseDate,
        ...(periodStartDate !== purchaseDate && { periodStartDate }),
        expirationDate,
        storefront,
        ...fields,
      }),
    );
  };
  if (hasTrial) add({ amountMicros: 0, isTrialPeriod: true }, 'P1W');
  for (const { kind, hours, delay, period, cents, refund, currency, usdRate } of payments) {
    const isRenewal = kind === 'renewal' && transactions.length > 0;
    // Braintree bills at some hour of the day after the period.
    const lateness = purchase.platform === 'processor_b' && delay === 0 ? 15 : delay;
    const renewed = isRenewal ? { periodStartDate: expirationDate } : {};
    if (isRenewal) purchaseDate = expirationDate + lateness * hourMs;
    else if (transactions.length === 0) purchaseDate = expirationDate;
    else if (kind === 'interruption') purchaseDate = expirationDate + hours * hourMs;
    else purchaseDate = Math.min(expirationDate, purchaseDate + hours * hourMs);
    if (purchaseDate > end) break;
    const amountMicros = cents * 10_000;
    const date = purchaseDate + (refund?.hours ?? 0) * hourMs;
    const isWhole = refund?.share === 1;
    const partMicros = Math.round(cents * (refund?.share ?? 0)) * 10_000;
    const partialRefunds = [{ id: 'refund', date, amountMicros: partMicros }];
    const rate = currency !== 'USD' && { usdRate, usdRateDate: toUtcDay(purchaseDate, -1) };
    add(
      {
        amountMicros,
        currency,
        ...rate,
        ...renewed,
        ...(refund && (isWhole ? { refundedAt: date } : { partialRefunds })),
      },
      period,
    );
  }
  return transactions;
}

/** A purchase of a subscription with its transactions, and a number for its ids. */
function buildSubscription(subscription: Subscription, index: number) {
  const { platform, productId, sandbox } = subscription;
  const purchaseId = `${platform}:${index}`;
  const { purchase } = createObservation({
    purchaseId,
    productId: `${platform}:${productId}`,
    platform,
    sandbox,
    productType: 'paid subscription',
  });
  return { ...subscription, index, purchase, transactions: buildTransactions(purchase, subscription) };
}
type BuiltSubscription = ReturnType<typeof buildSubscription>;

const getFirstPaymentDate = ({ transactions }: BuiltSubscription): number =>
  transactions.find(({ isTrialPeriod }) => !isTrialPeriod)?.purchaseDate ?? Infinity;

/** Records a subscription in two observations. */
async function recordSubscription(
  appName: string,
  { index, purchase, transactions: all, hasFailed, firstSize }: BuiltSubscription,
): Promise<void> {
  for (const size of [Math.min(firstSize, all.length), all.length]) {
    const transactions = all.slice(0, size);
    const last = transactions.at(-1);
    if (!last) continue;
    const { transactionId, expirationDate, refundedAt } = last;
    const extraMs = purchase.platform === 'processor_b' && refundedAt === undefined ? dayMs : 0;
    const state = {
      ...purchase,
      transactionId,
      purchaseDate: all[0]?.purchaseDate ?? start,
      ...(expirationDate !== undefined && { expirationDate: expirationDate + extraMs }),
      ...(refundedAt !== undefined && { endedAt: refundedAt }),
      ...(hasFailed && size === all.length && { cancelationReason: 'System.BillingError' as const }),
    };
    const asOf = Date.now() - (all.length - size) * minuteMs;
    await givenPurchase(appName, `user-${index % 3}`, { asOf, purchase: state, transactions, userAliases: [] });
  }
}

type Filters = Readonly<Record<string, string>>;

/** Two filters that a subscription matches: the query of the API and the columns of the export. */
function buildFilters({ platform, productId, storefront }: Subscription, omitted: string) {
  const product = `${platform}:${productId}`;
  const filters = [
    { name: 'platform', value: platform, column: 'platform', stored: platform },
    { name: 'product', value: product, column: 'productId', stored: product },
    { name: 'country', value: storefront === 'USA' ? 'US' : 'DE', column: 'storefront', stored: storefront },
  ].filter(({ name }) => name !== omitted);
  return {
    query: Object.fromEntries(filters.map(({ name, value }) => [name, value])),
    columns: Object.fromEntries(filters.map(({ column, stored }) => [column, stored])),
  };
}

/** Exports the app, and recounts the figures of production and of the sandbox with the program in Python. */
async function recountWithPython(table: Table, appName: string, filters: Filters) {
  const folder = await mkdtemp(path.join(tmpdir(), 'figures-'));
  try {
    const exportDeps = createExportService(table);
    exportDeps.moveTo(Date.now());
    const app = await getApp(exportDeps, appName);
    await exportApp(exportDeps, app, await createFolderTarget(folder), { kind: 'full', rowsPerPart: 10 });
    const run = async (...flags: string[]) => {
      const { stdout } = await promisify(execFile)('python3', ['testing/recount-figures.py', folder, ...flags]);
      return JSON.parse(stdout);
    };
    const flags = Object.entries(filters).map(([column, value]) => `${column}=${value}`);
    return [
      { expected: await run(), isSandbox: false, isFiltered: false },
      { expected: await run('--sandbox'), isSandbox: true, isFiltered: false },
      { expected: await run(...flags), isSandbox: false, isFiltered: true },
      { expected: await run('--sandbox', ...flags), isSandbox: true, isFiltered: true },
    ] as const;
  } finally {
    await rm(folder, { recursive: true });
  }
}

const range = { startdate: '2024-01-01', enddate: '2026-06-30' };

beforeAll(async () => void (await createTestTable()));

describe('figures (any history of two years)', () => {
  it(
    'agree with an independent recount in Python over the rows',
    async () => {
      const property = fc.asyncProperty(
        fc.array(arbitrarySubscription, { minLength: 1, maxLength: 8 }),
        fc.constantFrom('platform', 'product', 'country'),
        async (subscriptions, omitted) => {
          const table = await createTestTable();
          const keys = await givenApp(table);
          const [first] = subscriptions;
          if (!first) return;
          const { query, columns } = buildFilters(first, omitted);
          const type = 'paid subscription' as const;
          await saveCatalogue(getService(), keys.appName, { basic: { type }, pro: { type } });
          // The cohort of a customer starts with the first payment that is recorded.
          const built = subscriptions.map(buildSubscription);
          for (const subscription of built.sort((a, b) => getFirstPaymentDate(a) - getFirstPaymentDate(b)))
            await recordSubscription(keys.appName, subscription);
          for (const { expected, isSandbox, isFiltered } of await recountWithPython(table, keys.appName, columns)) {
            const filters = isFiltered ? query : {};
            const read = async (contract: Parameters<typeof callWithSecretKey>[0]) =>
              (await callWithSecretKey(contract, keys, { query: { ...range, ...filters, sandbox: String(isSandbox) } }))
                .body;
            const { rows: revenue } = await read(getRevenue);
            expect(revenue.flatMap(toRecountedRevenue)).toEqual(expected.revenue);
            const [mrr, churn, retention, ltv, conversion] = [
              await read(getMrr),
              await read(getChurn),
              await read(getRetention),
              await read(getLtv),
              await read(getConversion),
            ];
            for (const month of expected.months.filter(({ date }: { date: string }) => date <= range.enddate)) {
              const { mrrUSD, movement } = mrr.rows.find(({ date }: MrrRow) => date === month.date);
              const { activeAtStart, churned, involuntary } = churn.rows.find(
                ({ date }: ChurnRow) => date === month.date,
              );
              expect({ date: month.date, mrrUSD, movement, activeAtStart, churned, involuntary }).toEqual(month);
            }
            expect(retention.cohorts.filter(({ size }: RetentionCohort) => size > 0).map(toRecount)).toEqual(
              expected.cohorts,
            );
            const isInRange = ({ start: date }: { start: string }): boolean => date <= range.enddate;
            const payers = ltv.cohorts.filter((cohort: LtvCohort) => cohort.payers > 0);
            const customers = expected.customers.filter(isInRange);
            // The last age of the recount is the age of the latest payment.
            const cut = (cohort: LtvCohort, index: number) => ({
              ...cohort,
              ages: cohort.ages.slice(0, customers[index]?.ages.length),
            });
            // All customers of the app are the customers of the sandbox.
            const pick = isSandbox || isFiltered ? pickPayers : (cohort: LtvCohort) => cohort;
            expect(payers.map(cut).map(pick)).toEqual(customers.map(pick));
            const trials = conversion.cohorts.filter((cohort: ConversionCohort) => cohort.trials > 0);
            expect(trials.map(pickTrials)).toEqual(expected.trials);
          }
        },
      );
      await fc.assert(property, { ...sampleRuns({ sample: 2, full: 60 }), endOnFailure: true });
    },
    30 * minuteMs,
  );
});

const pickPayers = ({ start: cohortStart, payers, ages }: LtvCohort) => ({
  start: cohortStart,
  payers,
  ages: ages.map(({ month, revenuePerPayerUSD }) => ({ month, revenuePerPayerUSD })),
});

const pickTrials = ({ start: cohortStart, trials, converted }: ConversionCohort) => ({
  start: cohortStart,
  trials,
  converted,
});

/** Converts a month to the format of the recount, in micros. Commission and tax are not in the rows. */
function toRecountedRevenue({ date, grossUSD, refundsUSD, currencies }: RevenueRow) {
  if (date > range.enddate || Object.keys(currencies).length === 0) return [];
  const sums = Object.entries(currencies).map(([code, { grossMicros, refundsMicros }]) => [
    code,
    { grossMicros, refundsMicros },
  ]);
  const [gross, refunds] = [grossUSD, refundsUSD].map((usd) => Math.round(usd * 1_000_000));
  return { date, grossUSD: gross, refundsUSD: refunds, currencies: Object.fromEntries(sums) };
}

/** Converts a cohort to the format of the recount, which leaves out zeros. */
function toRecount({ start: cohortStart, size, periods }: RetentionCohort) {
  const pick = (name: 'active' | 'revenueUSD', first: number) =>
    Object.fromEntries(
      periods
        .filter((period) => period.index >= first && period[name] !== 0)
        .map((period) => [period.index, period[name]]),
    );
  return { start: cohortStart, size, active: pick('active', 1), revenueUSD: pick('revenueUSD', 0) };
}
