import * as v from 'valibot';
import type { ListKind } from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import type { StoredItem } from '../foundation/stream-record.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { toUtcDay } from '../money/rates.ts';
import { isUnconverted, toAmountUsd } from '../money/usd-conversion.ts';
import { listRefundedAmounts, type RefundedAmount } from '../purchases/refunds.ts';
import type { Transaction } from '../purchases/transaction.ts';
import { TransactionItem } from '../purchases/transaction-item.ts';
import { countCredits } from './count-credits.ts';
import { countFigures, type FigureCounts } from './count-figures.ts';
import {
  CountedNotification,
  CountedPurchase,
  countProductPayment,
  countProductReason,
  countReason,
  countSubscription,
  type ProductCounts,
} from './count-product.ts';
import { toCountedCurrency } from './counted-currency.ts';
import { isHourRowsName, toCurrencyName, toHourRowsName, toReceivedName } from './counter-names.ts';
import { addCounts, type Counts, negateCounts, prefixNames } from './counts.ts';

/** Counts by UTC day (`YYYY-MM-DD`). */
export type DailyCounts = ReadonlyMap<string, Counts>;

const noCounts: DailyCounts = new Map();

const CreatedItem = v.object({ createdAt: v.number() });
const CountedTransaction = v.pick(TransactionItem, ['transaction', 'figures']);
const EventItem = v.object({ date: v.number(), type: v.string() });

/** The contribution of an item to the counts of its app and its products. */
export interface ItemCounts {
  readonly days: DailyCounts;
  readonly products: readonly ProductCounts[];
  readonly figures: readonly FigureCounts[];
}

export const noItemCounts: ItemCounts = { days: noCounts, products: [], figures: [] };

/** Returns the contribution of an item to the counts. Depends only on the item, not on the current time. */
export function countStoredItem({ kind, item }: StoredItem): ItemCounts {
  switch (kind) {
    case 'purchase': {
      const purchase = parse(CountedPurchase, item, 'DatabaseError');
      return toItemCounts(countCreation('purchases', purchase.createdAt), countSubscription(purchase));
    }
    case 'customer':
      return toItemCounts(countCreation('customers', parse(CreatedItem, item, 'DatabaseError').createdAt));
    case 'transaction': {
      const { transaction, figures } = parse(CountedTransaction, item, 'DatabaseError');
      const products = countProductPayment(transaction);
      return toItemCounts(countTransaction(transaction), products, countFigures(transaction, figures));
    }
    case 'notification': {
      const notification = parse(CountedNotification, item, 'DatabaseError');
      const reasons = buildForDay(notification.date, countReason(notification));
      return toItemCounts(reasons, countProductReason(notification));
    }
    case 'event':
      return toItemCounts(countEvent(parse(EventItem, item, 'DatabaseError')));
    case 'creditEntry':
      return toItemCounts(noCounts, [], countCredits(item));
    default:
      return noItemCounts;
  }
}

/** Adds the sums of the platforms, which are in the counts of the app, too. */
const toItemCounts = (
  days: DailyCounts,
  products: readonly ProductCounts[] = [],
  figures: readonly FigureCounts[] = [],
): ItemCounts => ({ days: sumDailyCounts(days, ...products.map(countPlatform)), products, figures });

const SandboxRecord = v.looseObject({ sandbox: v.literal(true) });

/** Returns an item of the sandbox as one outside it. Undefined for every other item. */
function omitSandbox({ kind, item }: StoredItem): StoredItem | undefined {
  if (kind === 'notification')
    return v.is(SandboxRecord, item) ? { kind, item: { ...item, sandbox: false } } : undefined;
  if (kind !== 'purchase' && kind !== 'transaction') return undefined;
  const record = item[kind];
  return v.is(SandboxRecord, record) ? { kind, item: { ...item, [kind]: { ...record, sandbox: false } } } : undefined;
}

/**
 * Returns the contribution of an item of the sandbox to the counters of the sandbox: the contribution of an equal item
 * outside it to the others. Rows of lists are not counted separately.
 */
function countSandboxItem(stored: StoredItem): ItemCounts {
  const item = omitSandbox(stored);
  if (!item) return noItemCounts;
  const { days, ...counts } = countStoredItem(item);
  const omitRows = (sums: Counts): Counts =>
    Object.fromEntries(Object.entries(sums).filter(([name]) => !isHourRowsName(name)));
  return { ...counts, days: new Map([...days].map(([day, sums]) => [day, omitRows(sums)])) };
}

/** The counters of an app: all existing ones, and the counters of the sandbox, which count its items separately. */
export const counterScopes = [
  { isSandbox: false, count: countStoredItem },
  { isSandbox: true, count: countSandboxItem },
] as const;

/** Returns the contribution to the sums of the platform, which are in the counts of the app under its name. */
const countPlatform = ({ platform, day, counts }: ProductCounts): DailyCounts =>
  new Map([[day, prefixNames(platform, counts)]]);

const buildForDay = (date: EpochMillis, counts: Counts): DailyCounts => new Map([[toUtcDay(date), counts]]);
const countRow = (list: ListKind, date: EpochMillis): Counts => ({
  [toHourRowsName(list, new Date(date).getUTCHours())]: 1,
});
const countCreation = (list: ListKind, date: EpochMillis): DailyCounts => buildForDay(date, countRow(list, date));

/**
 * Counts a payment on the day of the purchase and each refund on its own day, so the amounts of past days do not
 * change. A sandbox transaction counts as a row of the list only.
 */
function countTransaction(transaction: Transaction): DailyCounts {
  const { purchaseDate, sandbox } = transaction;
  const row = countRow('transactions', purchaseDate);
  if (sandbox) return buildForDay(purchaseDate, row);
  const payment = buildForDay(purchaseDate, { ...row, transactions: 1, ...countPayment(transaction) });
  const refunds = listRefundedAmounts(transaction).map((refund) => countRefund(transaction, refund));
  return sumDailyCounts(payment, ...refunds);
}

function countRefund(transaction: Transaction, { date, amountMicros, amountUsd }: RefundedAmount): DailyCounts {
  const currency = toCountedCurrency(transaction);
  if (currency === undefined || !amountMicros) return noCounts;
  return buildForDay(date, negateCounts(toAmountCounts(currency, amountMicros, amountUsd)));
}

function countPayment(transaction: Transaction): Counts {
  const isPaid = (transaction.amountMicros ?? 0) > 0;
  const currency = toCountedCurrency(transaction);
  return {
    ...(isPaid && { paid: 1 }),
    ...(isPaid && currency !== undefined && isUnconverted(transaction) && { [toCurrencyName(currency, 'unrated')]: 1 }),
    ...(currency !== undefined && {
      [toCurrencyName(currency, 'transactions')]: 1,
      ...(isPaid && { [toCurrencyName(currency, 'paid')]: 1 }),
    }),
    ...countAmount(transaction),
  };
}

function countAmount(transaction: Transaction): Counts {
  const { amountMicros } = transaction;
  const currency = toCountedCurrency(transaction);
  if (currency === undefined || !amountMicros) return {};
  return toAmountCounts(currency, amountMicros, toAmountUsd(transaction) ?? undefined);
}

const toAmountCounts = (currency: string, amountMicros: number, amountUsd: number | undefined): Counts => ({
  [toCurrencyName(currency, 'micros')]: amountMicros,
  ...(amountUsd !== undefined && { [toCurrencyName(currency, 'usd')]: Math.round(amountUsd * 1_000_000) }),
});

/** The events of scheduled and background work, which do not count as requests. */
const workerEventTypes = new Set([
  'webhook.app.called',
  'receipt.refreshed',
  'notifications.reconciled',
  'purchase.imported',
]);

function countEvent({ date, type }: v.InferOutput<typeof EventItem>): DailyCounts {
  if (workerEventTypes.has(type) || type.endsWith('.recovered')) return noCounts;
  const [, platform] = /^webhook\.(\w+)\.called$/.exec(type) ?? [];
  return buildForDay(date, { requests: 1, ...(platform !== undefined && { [toReceivedName(platform)]: 1 }) });
}

export function sumDailyCounts(...all: readonly DailyCounts[]): DailyCounts {
  const sums = new Map<string, Counts>();
  for (const [day, counts] of all.flatMap((countsByDay) => [...countsByDay]))
    sums.set(day, addCounts(sums.get(day) ?? {}, counts));
  return sums;
}

export const subtractDailyCounts = (minuend: DailyCounts, subtrahend: DailyCounts): DailyCounts =>
  sumDailyCounts(minuend, new Map([...subtrahend].map(([day, counts]) => [day, negateCounts(counts)])));
