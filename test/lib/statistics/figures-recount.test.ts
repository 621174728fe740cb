import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { deps } from '../../../composition/deps.ts';
import type { ChurnRow, MrrRow, RetentionCohort } from '../../../lib/api/figures.ts';
import { getChurn, getMrr, getRetention } from '../../../lib/api/figures.ts';
import { purchasePartition } from '../../../lib/db/keys.ts';
import type { Purchase } from '../../../lib/purchases/purchase.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import { addBillingPeriods } from '../../../lib/shared/billing-period.ts';
import { platforms } from '../../../lib/shared/platform.ts';
import { hourMs, minuteMs } from '../../../lib/shared/time.ts';
import { callWithSecretKey } from '../../../testing/call.ts';
import { createObservation, createTransaction, givenApp } from '../../../testing/given.ts';
import { givenPurchase } from '../../../testing/given-purchase.ts';
import { sampleRuns } from '../../../testing/sample.ts';
import { createTestTable } from '../../../testing/table.ts';

const start = Date.parse('2024-01-01T00:00:00Z');
const end = Date.parse('2025-12-31T00:00:00Z');

const arbitraryPayment = fc.record({
  /** What precedes the payment: the end of the period before, an interruption, or a change of plan in the period. */
  kind: fc.constantFrom('renewal', 'renewal', 'renewal', 'interruption', 'plan'),
  hours: fc.integer({ min: 2, max: 900 }),
  period: fc.constantFrom('P1W', 'P10D', 'P1M', 'P1M', 'P3M', 'P6M', 'P1Y'),
  cents: fc.integer({ min: 1, max: 20_000 }),
  refund: fc.option(fc.record({ hours: fc.nat(1_200), share: fc.constantFrom(0.3, 0.7, 1) }), { freq: 5 }),
});

const arbitrarySubscription = fc.record({
  platform: fc.constantFrom(...platforms),
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
function buildTransactions(purchase: Purchase, { payments, hasTrial, startHour }: Subscription): Transaction[] {
  const transactions: Transaction[] = [];
  let expirationDate = start + startHour * hourMs;
  let purchaseDate = expirationDate;
  const add = (fields: Partial<Transaction>, period: string): void => {
    expirationDate = addBillingPeriods(purchaseDate, period);
    const transactionId = `${purchase.purchaseId}-${transactions.length}`;
    transactions.push(createTransaction(purchase, { transactionId, purchaseDate, expirationDate, ...fields }));
  };
  if (hasTrial) add({ amountMicros: 0, isTrialPeriod: true }, 'P1W');
  for (const { kind, hours, period, cents, refund } of payments) {
    if (kind === 'renewal' || transactions.length === 0) purchaseDate = expirationDate;
    else if (kind === 'interruption') purchaseDate = expirationDate + hours * hourMs;
    else purchaseDate = Math.min(expirationDate, purchaseDate + hours * hourMs);
    if (purchaseDate > end) break;
    const amountMicros = cents * 10_000;
    const date = purchaseDate + (refund?.hours ?? 0) * hourMs;
    const isWhole = refund?.share === 1;
    const partMicros = Math.round(cents * (refund?.share ?? 0)) * 10_000;
    const partialRefunds = [{ id: 'refund', date, amountMicros: partMicros }];
    add({ amountMicros, ...(refund && (isWhole ? { refundedAt: date } : { partialRefunds })) }, period);
  }
  return transactions;
}

/** Records a subscription in two observations. */
async function givenSubscription(appName: string, subscription: Subscription, index: number): Promise<string> {
  const { platform, sandbox, hasFailed, firstSize } = subscription;
  const purchaseId = `${platform}:${index}`;
  const { purchase } = createObservation({ purchaseId, platform, sandbox, productType: 'paid subscription' });
  const all = buildTransactions(purchase, subscription);
  for (const size of [Math.min(firstSize, all.length), all.length]) {
    const transactions = all.slice(0, size);
    const last = transactions.at(-1);
    if (!last) continue;
    const { transactionId, expirationDate } = last;
    const state = {
      ...purchase,
      transactionId,
      purchaseDate: all[0]?.purchaseDate ?? start,
      ...(expirationDate !== undefined && { expirationDate }),
      ...(hasFailed && size === all.length && { cancelationReason: 'System.BillingError' as const }),
    };
    const asOf = Date.now() - (all.length - size) * minuteMs;
    await givenPurchase(appName, `user-${index % 3}`, { asOf, purchase: state, transactions, userAliases: [] });
  }
  return purchaseId;
}

/** Writes the rows of the purchases, and recounts the figures with the program in Python. */
async function recountWithPython(appName: string, purchaseIds: readonly string[]) {
  const folder = await mkdtemp(path.join(tmpdir(), 'figures-'));
  try {
    const items = await Promise.all(
      purchaseIds.map(async (id) => await deps().table.query({ partition: purchasePartition(appName, id) })),
    );
    const toLines = (name: 'purchase' | 'transaction') =>
      items.flat().flatMap((item) => (item[name] ? [`${JSON.stringify(item[name])}\n`] : []));
    await writeFile(path.join(folder, 'purchases.jsonl'), toLines('purchase').join(''));
    await writeFile(path.join(folder, 'transactions.jsonl'), toLines('transaction').join(''));
    const { stdout } = await promisify(execFile)('python3', ['testing/recount-figures.py', folder]);
    return JSON.parse(stdout);
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
        async (subscriptions) => {
          const keys = await givenApp(await createTestTable());
          const ids: string[] = [];
          for (const [index, subscription] of subscriptions.entries())
            ids.push(await givenSubscription(keys.appName, subscription, index));
          const expected = await recountWithPython(keys.appName, ids);
          const mrr = (await callWithSecretKey(getMrr, keys, { query: range })).body;
          const churn = (await callWithSecretKey(getChurn, keys, { query: range })).body;
          const retention = (await callWithSecretKey(getRetention, keys, { query: range })).body;
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
        },
      );
      await fc.assert(property, { ...sampleRuns({ sample: 3, full: 60 }), endOnFailure: true });
    },
    10 * minuteMs,
  );
});

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
