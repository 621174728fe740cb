import * as v from 'valibot';
import type { Platform } from '../foundation/platform.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { toUtcDay } from '../money/rates.ts';
import { isUnconverted, toAmountUsd } from '../money/usd-conversion.ts';
import { listActivePeriods, listTrials, type Trial } from '../purchases/active-periods.ts';
import { NotificationItem } from '../purchases/announcement.ts';
import { isActive, isUnverified } from '../purchases/purchase.ts';
import { PurchaseItem } from '../purchases/purchase-item.ts';
import { listRefundedAmounts } from '../purchases/refunds.ts';
import type { Transaction } from '../purchases/transaction.ts';
import { toCountedCurrency } from './counted-currency.ts';
import type { Product } from './counter-key.ts';
import { type ProductSum, toCurrencyName, toReasonName, toSubscriptionReasonName } from './counter-names.ts';
import { addCounts, type Counts, negateCounts } from './counts.ts';

/** The sums of a product on a UTC day (`YYYY-MM-DD`). */
export interface ProductCounts extends Product {
  readonly day: string;
  readonly counts: Counts;
}

export const CountedPurchase = v.pick(PurchaseItem, [
  'purchase',
  'createdAt',
  'checkedAt',
  'activePeriods',
  'entitledUsers',
  'hasErasedOwner',
]);
type CountedPurchase = v.InferOutput<typeof CountedPurchase>;

export const CountedNotification = v.omit(NotificationItem, ['id']);
type CountedNotification = v.InferOutput<typeof CountedNotification>;

type DatedSum = readonly [date: EpochMillis | undefined, counts: Partial<Record<ProductSum, number>> & Counts];

/** Builds the counts of the days, and leaves out sums without a date. */
function buildCounts(product: Product, sums: readonly DatedSum[]): ProductCounts[] {
  const { platform, productId } = product;
  return sums.flatMap(([date, counts]) =>
    date === undefined ? [] : [{ platform, productId, day: toUtcDay(date), counts }],
  );
}

/** Counts a payment and its refunds like the counts of the app: outside the sandbox. */
export function countProductPayment(transaction: Transaction): ProductCounts[] {
  const { purchaseDate, sandbox, amountMicros = 0 } = transaction;
  if (sandbox) return [];
  const currency = toCountedCurrency(transaction);
  const toAmounts = (micros: number, usd: number | null | undefined): Counts =>
    currency === undefined || !micros
      ? {}
      : { [toCurrencyName(currency, 'micros')]: micros, ...(usd != null && { usd: Math.round(usd * 1_000_000) }) };
  return buildCounts(transaction, [
    [purchaseDate, { transactions: 1, ...(amountMicros > 0 && countPaid(transaction)) }],
    [purchaseDate, toAmounts(amountMicros, toAmountUsd(transaction))],
    ...listRefundedAmounts(transaction).map(
      (refund): DatedSum => [refund.date, negateCounts(toAmounts(refund.amountMicros ?? 0, refund.amountUsd))],
    ),
  ]);
}

const countPaid = (transaction: Transaction): Counts => ({
  paid: 1,
  ...(isUnconverted(transaction) && { unrated: 1 }),
});

export const countProductReason = ({ date, ...notification }: CountedNotification): ProductCounts[] =>
  buildCounts(notification, [[date, countReason(notification)]]);

/** Counts a lifecycle reason. One of a subscription outside the sandbox is also counted separately. */
export const countReason = ({
  reason,
  isSubscription,
  sandbox,
}: Pick<CountedNotification, 'reason' | 'isSubscription' | 'sandbox'>): Counts => ({
  [toReasonName(reason)]: 1,
  ...(isSubscription && !sandbox && { [toSubscriptionReasonName(reason)]: 1 }),
});

/** Counts the active periods and trials of an owned subscription outside the sandbox. */
export function countSubscription(item: CountedPurchase): ProductCounts[] {
  const { platform, sandbox } = item.purchase;
  const isOwned = item.entitledUsers.length > 0 || item.hasErasedOwner === true;
  if (sandbox || !isOwned) return [];
  const periods = listActivePeriods(item);
  return [
    ...periods.flatMap(({ productId, from, until, isTrial }) =>
      buildCounts({ platform, productId }, [
        [from, { active: 1, ...(isTrial && { activeTrials: 1 }) }],
        [until, { active: -1, ...(isTrial && { activeTrials: -1 }) }],
      ]),
    ),
    ...listTrials(periods).flatMap((trial) => countTrial(platform, trial)),
    ...countUnverified(item),
  ];
}

/** Counts a subscription from its renewal date on while its renewal is not verified. */
const countUnverified = ({ purchase, checkedAt }: CountedPurchase): ProductCounts[] =>
  isActive(purchase, checkedAt) && isUnverified(purchase, checkedAt)
    ? buildCounts(purchase, [[purchase.expirationDate, { unverified: 1 }]])
    : [];

function countTrial(platform: Platform, { productId, startedAt, convertedAt, endedAt }: Trial): ProductCounts[] {
  return buildCounts({ platform, productId }, [
    [startedAt, { 'trials.started': 1 }],
    [convertedAt, { 'trials.converted': 1 }],
    [convertedAt && startedAt, { 'cohort.converted': 1 }],
    [endedAt, { 'trials.ended': 1 }],
    [endedAt && startedAt, { 'cohort.ended': 1 }],
  ]);
}

/** Returns the part of a day's counts that the counts of the month contains: the changes of the running totals. */
export const pickRunningTotals = ({ active = 0, activeTrials = 0, unverified = 0 }: Counts): Counts =>
  addCounts({}, { active, activeTrials, unverified });

/** Adds up the counts of each product and day. Leaves out those without a sum. */
export function sumProductCounts(countsByDay: readonly ProductCounts[]): ProductCounts[] {
  const sums = new Map<string, ProductCounts>();
  for (const entry of countsByDay) {
    const { platform, productId, day } = entry;
    const key = JSON.stringify([platform, productId, day]);
    sums.set(key, { platform, productId, day, counts: addCounts(sums.get(key)?.counts ?? {}, entry.counts) });
  }
  return [...sums.values()].filter(({ counts }) => Object.keys(counts).length > 0);
}

export const negateProductCounts = (entry: ProductCounts): ProductCounts => ({
  ...entry,
  counts: negateCounts(entry.counts),
});
