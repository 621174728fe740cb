import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { addBillingPeriods } from '../../lib/foundation/billing-period.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import {
  getConversion,
  getLtv,
  getRetention,
  type LtvCohort,
  type RetentionCohort,
} from '../../lib/statistics/cohort-contract.ts';
import { type ChurnRow, getChurn, getMrr, type MrrRow } from '../../lib/statistics/mrr-contract.ts';
import { getRevenue, type RevenueRow } from '../../lib/statistics/revenue-contract.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createObservation, createTransaction } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { givenPurchase } from '../../testing/given-purchase.ts';
import { createTestTable } from '../../testing/table.ts';

type Row = Readonly<Record<string, string>>;

/** Returns the rows of the table of docs/figures-example.md whose header starts with these titles, by title. */
function readTable(page: string, ...titles: readonly string[]): Row[] {
  const lines = page.split('\n');
  const toCells = (line = ''): string[] =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
  const header = lines.findIndex((line) => titles.every((title, index) => toCells(line)[index] === title));
  const names = toCells(lines[header]);
  const rows: Row[] = [];
  for (let line = header + 2; lines[line]?.startsWith('|'); line++)
    rows.push(Object.fromEntries(toCells(lines[line]).map((cell, index) => [names[index] ?? '', cell])));
  return rows;
}

const toDate = (day = ''): number => Date.parse(`${day}T10:00:00Z`);

/** Builds the refund fields of a payment from a text such as `4 on 2025-02-10`. */
function parseRefund(refund = '', amount = '') {
  const [, refunded, day] = /^(\d+) on (.+)$/.exec(refund) ?? [];
  if (refunded === undefined) return {};
  if (refunded === amount) return { refundedAt: toDate(day) };
  return { partialRefunds: [{ id: 'refund', date: toDate(day), amountMicros: Number(refunded) * 1_000_000 }] };
}

/** Records a purchase of the example: its lines are the payments. */
async function givenExamplePurchase(appName: string, lines: readonly Row[]): Promise<void> {
  const [first] = lines;
  const platform = first?.Store as Platform;
  const purchaseId = `${platform}:${first?.Purchase}`;
  const payments = lines.map((line, index) => ({
    transactionId: `${purchaseId}-${index}`,
    productId: `${platform}:${line.Product}`,
    purchaseDate: toDate(line.Paid),
    ...(line.Period && { expirationDate: addBillingPeriods(toDate(line.Paid), line.Period) }),
    storefront: line.Country ?? '',
    currency: 'USD',
    amountMicros: Number(line.USD) * 1_000_000,
    ...(line.USD === '0' && { isTrialPeriod: true }),
    ...parseRefund(line.Refund, line.USD),
  }));
  const last = payments.at(-1);
  if (!last) throw new Error('The purchase has no payments.');
  const { expirationDate, productId, transactionId } = last;
  const { purchase } = createObservation({ purchaseId, platform, productType: 'consumable' });
  const { expirationDate: _expirationDate, ...base } = purchase;
  const stored = {
    ...base,
    transactionId,
    productId,
    purchaseDate: payments[0]?.purchaseDate ?? 0,
    ...(expirationDate !== undefined && { expirationDate, productType: 'paid subscription' as const }),
    ...(purchaseId.endsWith(':4') && { cancelationReason: 'System.BillingError' as const }),
  };
  const transactions = payments.map((payment) => {
    const { expirationDate: _end, ...transaction } = createTransaction(stored, {});
    return { ...transaction, ...payment };
  });
  const observation = { asOf: Date.now(), purchase: stored, transactions, userAliases: [] };
  await givenPurchase(appName, `customer-${first?.Purchase}`, observation);
}

let page: string;
let keys: IssuedApiKeys;
beforeAll(async () => {
  page = await readFile('docs/figures-example.md', 'utf8');
  keys = await givenApp(await createTestTable());
  const lines = readTable(page, 'Purchase', 'Store');
  for (const payments of groupByPurchase(lines).values()) await givenExamplePurchase(keys.appName, payments);
});

function groupByPurchase(lines: readonly Row[]): ReadonlyMap<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const line of lines) groups.set(line.Purchase ?? '', [...(groups.get(line.Purchase ?? '') ?? []), line]);
  return groups;
}

const fourMonths = { startdate: '2025-01-01', enddate: '2025-04-30' };
const january = { startdate: '2025-01-01', enddate: '2025-01-31' };
const toNumbers = (row: Row): number[] => Object.values(row).slice(1).map(Number);

describe('docs/figures-example.md', () => {
  it('states the recurring revenue and the movement that the API returns', async () => {
    const { body } = await callWithSecretKey(getMrr, keys, { query: fourMonths });
    const rows = body.rows.map(({ mrrUSD, movement }: MrrRow) => [
      mrrUSD,
      movement.new,
      movement.expansion,
      movement.contraction,
      movement.churned,
      movement.reactivated,
    ]);
    expect(rows).toEqual(readTable(page, 'Month', 'MRR').map(toNumbers));
  });

  it('states the revenue that the API returns', async () => {
    const { body } = await callWithSecretKey(getRevenue, keys, { query: fourMonths });
    const rows = body.rows.map(
      ({ date: _date, unconvertedShare: _share, currencies: _currencies, ...revenue }: RevenueRow) =>
        Object.values(revenue),
    );
    expect(rows).toEqual(readTable(page, 'Month', 'Gross').map(toNumbers));
  });

  it('states the churn that the API returns', async () => {
    const { body } = await callWithSecretKey(getChurn, keys, { query: fourMonths });
    const rows = body.rows.map(({ date: _date, unconvertedShare: _share, ...figures }: ChurnRow) =>
      Object.values(figures),
    );
    expect(rows).toEqual(readTable(page, 'Month', 'Active at start').map(toNumbers));
  });

  it('states the retention that the API returns', async () => {
    const { body } = await callWithSecretKey(getRetention, keys, { query: january });
    const expected = readTable(page, 'Index', 'Active').map(toNumbers);
    const cohorts: readonly RetentionCohort[] = body.cohorts;
    const periods = cohorts[0]?.periods ?? [];
    expect(periods.slice(0, expected.length).map(({ active, rate, revenueUSD }) => [active, rate, revenueUSD])).toEqual(
      expected,
    );
  });

  it('states the lifetime value that the API returns', async () => {
    const { body } = await callWithSecretKey(getLtv, keys, { query: january });
    const expected = readTable(page, 'Month', 'Per customer').map(toNumbers);
    const [cohort]: readonly LtvCohort[] = body.cohorts;
    expect(cohort).toMatchObject({ customers: 6, payers: 6 });
    const ages = cohort?.ages.slice(0, expected.length) ?? [];
    expect(ages.map((age) => [age.revenuePerCustomerUSD, age.revenuePerPayerUSD])).toEqual(expected);
  });

  it('states the conversion and the proceeds that the API returns', async () => {
    const { body: conversion } = await callWithSecretKey(getConversion, keys, { query: january });
    expect(conversion.cohorts).toMatchObject([{ trials: 1, converted: 1 }]);
    const { body: mrr } = await callWithSecretKey(getMrr, keys, { query: { ...january, amount: 'proceeds' } });
    expect(mrr.rows).toMatchObject([{ mrrUSD: 39.21 }]);
    expect(page).toContain('39.21');
  });
});
