import { expect } from '@jest/globals';
import * as keys from '../../../lib/foundation/keys.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import type { Item, Table } from '../../../lib/foundation/table.ts';
import {
  type ActivePeriod,
  listActivePeriods,
  type SubscriptionActivity,
} from '../../../lib/purchases/active-periods.ts';
import { isActive, isSubscription, type Purchase } from '../../../lib/purchases/purchase.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import { listCountedProducts, listCounterDays, listCounterMonths } from '../../../lib/statistics/counter-table.ts';
import type { Counts } from '../../../lib/statistics/counts.ts';

type PurchaseItem = Item &
  SubscriptionActivity & { readonly entitledUsers: readonly string[]; readonly hasErasedOwner?: boolean };

/** Sums by name. The key is a platform with a product id and a period, in JSON. */
class Sums {
  readonly byKey = new Map<string, Record<string, number>>();

  add(key: readonly string[], name: string, value = 1): void {
    const text = JSON.stringify(key);
    const sums = this.byKey.get(text) ?? {};
    this.byKey.set(text, { ...sums, [name]: (sums[name] ?? 0) + value });
  }

  /** Returns the sums without zeros. */
  toObject(): Readonly<Record<string, Counts>> {
    const entries = [...this.byKey].map(([key, sums]) => [key, omitZeros(sums)] as const);
    return Object.fromEntries(entries.filter(([, sums]) => Object.keys(sums).length > 0).sort());
  }
}

const omitZeros = (sums: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(sums).filter(([, value]) => value !== 0));

const toDay = (date: number): string => new Date(date).toISOString().slice(0, 10);

/** Reads all items of the purchases of an app. */
async function readPurchases(table: Table, appName: string): Promise<Item[][]> {
  const lists = keys.createdLists.purchases
    .partitions(appName)
    .map((partition) => table.query({ partition, index: 'byCreated' }));
  const entries = (await Promise.all(lists)).flat();
  return await Promise.all(entries.map(async ({ pk }) => await table.query({ partition: String(pk) })));
}

const isCounted = ({ purchase, entitledUsers, hasErasedOwner }: PurchaseItem, isSandbox: boolean): boolean =>
  purchase.sandbox === isSandbox && (entitledUsers.length > 0 || hasErasedOwner === true);

/**
 * Computes the sums of the products from the items of the purchases, independently of the aggregator. Production counts
 * the reasons of the sandbox, too.
 */
function computeProductSums(purchases: readonly Item[][], isSandbox: boolean): Readonly<Record<string, Counts>> {
  const sums = new Sums();
  for (const items of purchases) {
    for (const item of items) {
      if (item.transaction) addPayment(sums, item.transaction as Transaction, isSandbox);
      if (item.reason) {
        const key = [String(item.platform), String(item.productId), toDay(Number(item.date))];
        const isOwn = (item.sandbox === true) === isSandbox;
        if (isOwn || !isSandbox) sums.add(key, `N.${item.reason}`);
        if (item.isSubscription && isOwn) sums.add(key, `NS.${item.reason}`);
      }
      if (item.purchase) addSubscription(sums, item as PurchaseItem, isSandbox);
    }
  }
  return sums.toObject();
}

function addPayment(sums: Sums, transaction: Transaction, isSandbox: boolean): void {
  const { platform, productId, purchaseDate, sandbox, amountMicros = 0, partialRefunds = [], refundedAt } = transaction;
  const add = (date: number, name: string, value = 1) => sums.add([platform, productId, toDay(date)], name, value);
  if (sandbox !== isSandbox) return;
  add(purchaseDate, 'transactions');
  if (amountMicros > 0) add(purchaseDate, 'paid');
  let remaining = amountMicros;
  const refunds = partialRefunds.map(({ date, amountMicros: part = 0 }) => {
    const refund = Math.min(part, remaining);
    remaining -= refund;
    return [date, refund] as const;
  });
  for (const name of ['USD.micros', 'usd']) {
    add(purchaseDate, name, amountMicros);
    for (const [date, refund] of refunds) add(date, name, -refund);
    if (refundedAt !== undefined) add(refundedAt, name, -remaining);
  }
}

function addSubscription(sums: Sums, item: PurchaseItem, isSandbox: boolean): void {
  if (!isCounted(item, isSandbox)) return;
  const { platform } = item.purchase;
  const periods = listActivePeriods(item);
  const addChange = ({ productId, isTrial }: ActivePeriod, date: number, value: number) => {
    for (const name of isTrial ? ['active', 'activeTrials'] : ['active'])
      for (const period of [toDay(date), toDay(date).slice(0, 7)]) sums.add([platform, productId, period], name, value);
  };
  for (const period of periods) {
    addChange(period, period.from, 1);
    if (period.until !== undefined) addChange(period, period.until, -1);
  }
  // Histories start with at most one trial, which a pause can interrupt.
  const [first] = periods;
  if (!first?.isTrial) return;
  const add = (date: number, name: string) => sums.add([platform, first.productId, toDay(date)], name);
  add(first.from, 'trials.started');
  const next = periods.find(({ isTrial }) => !isTrial);
  const end = next?.from ?? periods.at(-1)?.until;
  if (end === undefined) return;
  add(end, next ? 'trials.converted' : 'trials.ended');
  add(first.from, next ? 'cohort.converted' : 'cohort.ended');
}

/** Returns the counters of all products in the format of `computeProductSums`. */
async function readProductSums(service: Service, appName: string, isSandbox: boolean) {
  const sums = new Sums();
  for (const product of await listCountedProducts(service, appName)) {
    const days = await listCounterDays(service, appName, { days: ['2000-01-01', '2099-12-31'], product, isSandbox });
    const months = await listCounterMonths(service, appName, { product, isSandbox });
    for (const { period, counts } of [...days, ...months])
      for (const [name, value] of Object.entries(counts))
        sums.add([product.platform, product.productId, period], name, value);
  }
  return sums.toObject();
}

/** Returns the sums of each platform and of the app in the counters of the days. */
async function readAppSums(service: Service, appName: string, isSandbox: boolean) {
  const platforms = new Sums();
  const totals = new Sums();
  for (const { period, counts } of await listCounterDays(service, appName, {
    days: ['2000-01-01', '2099-12-31'],
    isSandbox,
  })) {
    for (const [name, value] of Object.entries(counts)) {
      const [platform = '', sum] = name.split('/');
      if (sum !== undefined) platforms.add([platform, period], sum, value);
      else if (/^(transactions|paid|USD\.micros|N\..*)$/.test(name)) totals.add([period], name, value);
      else if (name === 'USD.usd') totals.add([period], 'usd', value);
    }
  }
  return { platforms: platforms.toObject(), totals: totals.toObject() };
}

/**
 * Expects that counters of products and platforms agree with the purchases in the table, and with the totals of the
 * app, in production and in the sandbox.
 */
export async function expectCorrectProductCounters(
  table: Table,
  { appName, service }: { readonly appName: string; readonly service: Service },
): Promise<void> {
  const purchases = await readPurchases(table, appName);
  for (const isSandbox of [false, true]) await expectCorrectScope(purchases, { appName, service, isSandbox });
}

interface Scope {
  readonly appName: string;
  readonly service: Service;
  readonly isSandbox: boolean;
}

async function expectCorrectScope(purchases: readonly Item[][], { appName, service, isSandbox }: Scope): Promise<void> {
  const productSums = computeProductSums(purchases, isSandbox);
  expect(await readProductSums(service, appName, isSandbox)).toEqual(productSums);
  const platformSums = new Sums();
  const totals = new Sums();
  for (const [key, counts] of Object.entries(productSums)) {
    const [platform = '', , period = ''] = JSON.parse(key) as string[];
    if (period.length !== 'YYYY-MM-DD'.length) continue;
    for (const [name, value] of Object.entries(counts)) {
      platformSums.add([platform, period], name, value);
      if (/^(transactions|paid|usd|USD\.micros|N\..*)$/.test(name)) totals.add([period], name, value);
    }
  }
  const expected = { platforms: platformSums.toObject(), totals: totals.toObject() };
  expect(await readAppSums(service, appName, isSandbox)).toEqual(expected);
  expectActiveTotal(purchases, productSums, isSandbox);
}

/** Expects that the running total is the number of subscriptions that are active by their state. */
function expectActiveTotal(
  purchases: readonly Item[][],
  productSums: Readonly<Record<string, Counts>>,
  isSandbox: boolean,
): void {
  const active = purchases.flat().filter((item) => {
    if (!item.purchase) return false;
    const { checkedAt } = item as PurchaseItem;
    const purchase = item.purchase as Purchase;
    return isCounted(item as PurchaseItem, isSandbox) && isSubscription(purchase) && isActive(purchase, checkedAt);
  });
  const days = Object.entries(productSums).filter(([key]) => (JSON.parse(key) as string[])[2]?.length === 10);
  expect(days.reduce((sum, [, counts]) => sum + (counts.active ?? 0), 0)).toBe(active.length);
}
