import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Contract } from '../../lib/api/contract.ts';
import { type IssuedApiKeys, saveCatalogue } from '../../lib/apps/manage-apps.ts';
import { setStoreSettings } from '../../lib/apps/store-settings-table.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { purchaseKey } from '../../lib/foundation/keys.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import { dayMs, minuteMs, secondMs } from '../../lib/foundation/time.ts';
import { toUtcDay } from '../../lib/money/rates.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import {
  type ConversionCohort,
  getConversion,
  getRetention,
  type RetentionCohort,
} from '../../lib/statistics/cohort-contract.ts';
import { getStats, type MonthlyStat } from '../../lib/statistics/contract.ts';
import { getChurn, getMrr, type MrrRow } from '../../lib/statistics/mrr-contract.ts';
import { getRevenue, type RevenueRow } from '../../lib/statistics/revenue-contract.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { listPurchaseRows } from '../../testing/customer-answers.ts';
import { createUniqueName } from '../../testing/given.ts';
import { aggregatePartitions } from '../../testing/given-purchase.ts';
import {
  arbitraryLedgerRun,
  buySubscription,
  type LedgerRun,
  ledgerProducts,
  refundedCredit,
} from '../../testing/ledger-histories.ts';
import { startNotificationRouter } from '../../testing/notification-router.ts';
import { recountRows } from '../../testing/recount.ts';
import { sampleRuns } from '../../testing/sample.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const platforms: readonly Platform[] = ['processor_a', 'store_a', 'store_b'];

const service = startBeforeAll(startTestService);
const router = startBeforeAll(async () => await startNotificationRouter(service, platforms));

describe('figures (any history of subscriptions at the stores)', () => {
  it(
    'agree with an independent recount in Python over the records of the stores',
    async () => {
      const property = fc.asyncProperty(arbitraryLedgerRun, arbitraryFilter, async (run, { platform, entitlement }) => {
        const { keys, ledger } = await playHistories(run);
        const expected = recountRows('recount-ledger.py', ledger);
        const months = expected.months.map(withRoundedMoney);
        const startdate = expected.months[0].date;
        expect(await readFigures(keys, { startdate })).toEqual({ ...expected, months });
        const filter = { platform, products: entitlements[entitlement] };
        const matching = recountRows('recount-ledger.py', { ...ledger, filter });
        const { trials: _trials, ...figures } = await readFigures(keys, { startdate, platform, entitlement });
        expect({
          filter,
          months: figures.months.slice(-matching.months.length).map(omitMoney),
          cohorts: figures.cohorts,
        }).toEqual({
          filter,
          months: matching.months.map(omitMoney),
          cohorts: matching.cohorts,
        });
      });
      await fc.assert(property, {
        ...sampleRuns({ sample: 2, full: 40 }),
        examples: [[refundedCredit, { platform: 'processor_a', entitlement: 'premium' }]],
        endOnFailure: true,
      });
    },
    60 * minuteMs,
  );
});

/** Products by entitlement: a change between two of them does not concern the entitlement, or ends or starts it. */
const entitlements: Readonly<Record<string, readonly string[]>> = {
  premium: ['basic', 'pro'],
  short: ['weekly'],
  other: ['pro', 'quarterly'],
};
const arbitraryFilter = fc.record({
  platform: fc.constantFrom(...platforms),
  entitlement: fc.constantFrom(...Object.keys(entitlements)),
});

/** The records of the stores show no product of a payment without a period. */
const omitMoney = ({ money: _money, revenueUSD: _revenue, ...month }: Readonly<Record<string, unknown>>) => month;

/** Google Play reports proceeds after refunds: before a refund, they are rounded to a micro more or less. */
const withRoundedMoney = <T extends { readonly money: object }>(month: T) => ({
  ...month,
  money: Object.fromEntries(Object.entries(month.money).map(([sum, micros]) => [sum, expect.closeTo(micros, -2)])),
});

/** Plays the histories in their own app, and returns the records of the stores. */
async function playHistories({ histories, failedPayments, advances }: LedgerRun) {
  await service.resetStores();
  await changeAccount({ failedPayments });
  const keys = await service.createApp(platforms, {}, createUniqueName());
  const settings = await service.callControl('/settings/processor_a');
  await setStoreSettings(getService(), keys.appName, 'processor_a', { ...settings, graceDays: 0 });
  const catalogue = Object.keys(ledgerProducts).map((id) => {
    const names = Object.keys(entitlements).filter((name) => entitlements[name]?.includes(id));
    return [id, { type: 'paid subscription', entitlements: names }] as const;
  });
  await saveCatalogue(getService(), keys.appName, Object.fromEntries(catalogue));
  router.routeTo([keys.appName]);
  const purchases = await Promise.all(histories.map((history) => buySubscription(history, service)));
  for (const { evidence } of purchases)
    expect((await service.validate(keys, evidence)).body).toMatchObject({ ok: true });
  for (const [round, days] of advances.entries()) {
    await advance(days, keys);
    for (const purchase of purchases) await purchase.act(round);
    await synchronize(keys);
  }
  const rows = await listPurchaseRows(keys);
  await aggregatePartitions(rows.map(({ purchaseId }) => purchaseKey.partition(keys.appName, String(purchaseId))));
  const records = await Promise.all(purchases.map(async (purchase) => await purchase.readLedger()));
  router.routeTo([]);
  return { keys, ledger: { now: router.service.now(), products: ledgerProducts, purchases: records.flat() } };
}

async function changeAccount(settings: object): Promise<void> {
  const init = { method: 'PUT', body: JSON.stringify(settings) };
  const response = await fetch(`${service.emulatorUrl}/control/accounts/processor_a`, init);
  expect(response.status).toBe(200);
}

/** Moves the clock to each transition of the stores: the signature of a notification is valid for minutes. */
async function advance(days: number, keys: IssuedApiKeys): Promise<void> {
  const end = router.service.now() + days * dayMs;
  while (router.service.now() < end) {
    const { nextDueTime } = await service.callControl('/clock');
    const target = Math.min(end, nextDueTime === undefined ? end : Date.parse(nextDueTime) + secondMs);
    const seconds = Math.max(1, Math.ceil((target - router.service.now()) / secondMs));
    await service.callControl('/clock', { advance: `PT${Math.min(999_999, seconds)}S` });
    await deliver(keys);
  }
}

async function deliver({ appName }: IssuedApiKeys): Promise<void> {
  await router.waitUntilPosted();
  await router.process(router.take(appName));
}

/** Delivers the notifications, and refreshes the purchases as their schedule does. */
async function synchronize(keys: IssuedApiKeys): Promise<void> {
  await router.poll(keys.appName);
  await deliver(keys);
  for (const { purchaseId } of await listPurchaseRows(keys))
    await refreshPurchase(router.service, { appName: keys.appName, purchaseId: String(purchaseId) });
}

const amounts = ['before_refunds', 'after_refunds', 'proceeds'] as const;

/** Reads the figures in the format of the recount, which leaves out zeros. */
async function readFigures(
  keys: IssuedApiKeys,
  filters: { readonly startdate: string; readonly [filter: string]: string },
) {
  const range = { ...filters, enddate: toUtcDay(router.service.now()) };
  const read = async (contract: Contract, query: Readonly<Record<string, string>> = {}) =>
    (await callWithSecretKey(contract, keys, { query: { ...range, ...query } })).body;
  const readAll = async (contract: Contract) =>
    await Promise.all(amounts.map(async (amount) => await read(contract, { amount })));
  const [stats, churn, conversion] = [await read(getStats), await read(getChurn), await read(getConversion)];
  const { rows: revenue } = await read(getRevenue);
  const [mrr, retention] = [await readAll(getMrr), await readAll(getRetention)];
  const byAmount = <T>(convert: (index: number) => T) =>
    Object.fromEntries(amounts.map((amount, index) => [amount, convert(index)]));
  return {
    months: mrr[0].rows.map(({ date }: MrrRow, month: number) => ({
      date,
      revenueUSD: stats.monthlyStats.find((row: MonthlyStat) => date.startsWith(row.date))?.amountUSD ?? 0,
      money: toMicros(revenue[month]),
      mrrUSD: byAmount((index) => mrr[index].rows[month].mrrUSD),
      movement: byAmount((index) => mrr[index].rows[month].movement),
      activeAtStart: churn.rows[month].activeAtStart,
      churned: churn.rows[month].churned,
    })),
    cohorts: retention[0].cohorts.flatMap(({ start, size, periods }: RetentionCohort, cohort: number) =>
      size === 0
        ? []
        : [
            {
              start,
              size,
              active: pickPeriods(periods.slice(1), 'active'),
              revenueUSD: byAmount((index) => pickPeriods(retention[index].cohorts[cohort].periods, 'revenueUSD')),
            },
          ],
    ),
    trials: conversion.cohorts.flatMap(({ start, trials, converted }: ConversionCohort) =>
      trials === 0 ? [] : [{ start, trials, converted }],
    ),
  };
}

const toMicros = (row: RevenueRow) =>
  Object.fromEntries(
    (['gross', 'refunds', 'commission', 'tax', 'proceeds'] as const).map((sum) => [
      sum,
      Math.round(row[`${sum}USD`] * 1_000_000),
    ]),
  );

/** Amounts of the recount are in cents, and leave out zeros. */
const pickPeriods = (periods: RetentionCohort['periods'], name: 'active' | 'revenueUSD') =>
  Object.fromEntries(
    periods.flatMap((period) => {
      const value = Math.round(period[name] * 100) / 100;
      return value === 0 ? [] : [[period.index, value]];
    }),
  );
