import { toCanonicalJson } from '../foundation/canonical-json.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { toAmountUsd } from '../money/usd-conversion.ts';
import type { Clawback, PartialRefund, Transaction } from './transaction.ts';

/** A refund of a transaction or of a part of it. */
export interface RefundedAmount {
  readonly date: EpochMillis;
  /** Micros of the transaction's currency. Undefined if the amount of the transaction is unknown. */
  readonly amountMicros?: number;
  /** US dollars at the rate of the transaction. Undefined if the rate is unknown. */
  readonly amountUsd?: number;
}

/**
 * Merges partial refunds by id, sorted by date. Idempotent, commutative and associative: the earliest date, the largest
 * amount of the latest sum, the largest quantity, the latest status and the latest reversal of a refund win, because a
 * response of the store can lack any.
 */
export function mergePartialRefunds(
  a: readonly PartialRefund[] = [],
  b: readonly PartialRefund[] = [],
): readonly PartialRefund[] | undefined {
  const byId = new Map<string, PartialRefund>();
  for (const refund of [...a, ...b]) byId.set(refund.id, mergePartialRefund(byId.get(refund.id) ?? refund, refund));
  const isInSum = ({ id }: PartialRefund): boolean => byId.get(id.replace(formerItemDate, ''))?.isSum === true;
  const merged = [...byId.values()]
    .filter((refund) => refund.isSum || !isInSum(refund))
    .sort((x, y) => x.date - y.date || (x.id < y.id ? -1 : 1));
  return merged.length > 0 ? merged : undefined;
}

/** Ends the ids of the refunds of an item of the App Store that an earlier build stored one by one. */
const formerItemDate = / \d{13}$/;

const mergePartialRefund = (a: PartialRefund, b: PartialRefund): PartialRefund => ({
  id: a.id,
  date: Math.min(a.date, b.date),
  ...omitUndefined({
    amountMicros: chooseAmount(a, b),
    quantity: chooseLarger(a.quantity, b.quantity),
    isSum: a.isSum ?? b.isSum,
    status: chooseLaterStatus(a.status, b.status),
    latestDate: chooseLarger(a.latestDate, b.latestDate),
    reversedAt: chooseLarger(a.reversedAt, b.reversedAt),
  }),
});

/** The latest sum replaces the earlier ones: a reversed refund no longer belongs to it. */
function chooseAmount(a: PartialRefund, b: PartialRefund): number | undefined {
  const { latestDate = 0 } = a;
  const { latestDate: otherDate = 0 } = b;
  if (latestDate === otherDate) return chooseLarger(a.amountMicros, b.amountMicros);
  return latestDate > otherDate ? a.amountMicros : b.amountMicros;
}

/** A dispute ends as a refund or is returned. Both can still be returned. */
function chooseLaterStatus(a: PartialRefund['status'], b: PartialRefund['status']): PartialRefund['status'] {
  if (a === 'returned' || b === 'returned') return 'returned';
  return a && b;
}

/** The money of the refund came back to the developer, or belongs to other refunds of the payment. */
export const isReturned = ({ status, amountMicros, latestDate = 0, reversedAt }: PartialRefund): boolean =>
  status === 'returned' || amountMicros === 0 || (reversedAt !== undefined && reversedAt > latestDate);

/** A sum of which a part was reversed: the rest is no new refund. */
const isLeftByReversal = ({ latestDate, reversedAt }: PartialRefund): boolean =>
  reversedAt !== undefined && latestDate === reversedAt;

/** Lists the refunds that were not reversed, the latest first. A reversal counts as later than a refund of its time. */
export function listUnreversed(clawbacks: Transaction['clawbacks'] = {}): Clawback[] {
  let reversals = 0;
  return Object.values(clawbacks)
    .sort((a, b) => b.date - a.date || Number(b.isReversal ?? 0) - Number(a.isReversal ?? 0) || compareContent(a, b))
    .filter(({ isReversal, isPartial, endsAccess, isChargeback = endsAccess }) => {
      if (isReversal) reversals += 1;
      else if (isPartial || !isChargeback || reversals === 0) return true;
      else reversals -= 1;
      return false;
    });
}

const compareContent = (a: object, b: object): number => (toCanonicalJson(a) < toCanonicalJson(b) ? -1 : 1);

export const chooseSmaller = (a?: number, b?: number): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);

export const chooseLarger = (a?: number, b?: number): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);

/**
 * Returns the refunds of a transaction: the partial ones, then the rest if the payment was refunded in full. Their sum
 * never exceeds the payment, and a full refund returns exactly the payment, also in US dollars.
 */
export function listRefundedAmounts(transaction: Transaction): RefundedAmount[] {
  const { partialRefunds = [], refundedAt, amountMicros: total } = transaction;
  const refunds = [
    ...partialRefunds
      .filter((refund) => !isReturned(refund))
      .map((refund) => ({ date: refund.date, amountMicros: computePartialAmount(refund, transaction) })),
    ...(refundedAt === undefined ? [] : [{ date: refundedAt, amountMicros: total }]),
  ];
  let refunded = 0;
  return refunds.map(({ date, amountMicros = 0 }) => {
    if (total === undefined) return { date };
    const refundedBefore = refunded;
    refunded = Math.min(refunded + amountMicros, Math.max(total, 0));
    const amountUsd = subtractUsd(transaction, refunded, refundedBefore);
    return { date, amountMicros: refunded - refundedBefore, ...omitUndefined({ amountUsd }) };
  });
}

/** Returns the amount of the refund, or the price of the refunded units. */
function computePartialAmount(
  { amountMicros, quantity }: PartialRefund,
  { amountMicros: total, quantity: boughtQuantity = 1 }: Transaction,
): number | undefined {
  if (amountMicros !== undefined || quantity === undefined || total === undefined) return amountMicros;
  return Math.round((total * Math.min(quantity, boughtQuantity)) / boughtQuantity);
}

/** Converts the sums and subtracts, so that the rounded parts add up to the rounded whole. */
function subtractUsd(transaction: Transaction, micros: number, microsBefore: number): number | undefined {
  const [usd, usdBefore] = [micros, microsBefore].map((amountMicros) => toAmountUsd({ ...transaction, amountMicros }));
  return usd === null || usdBefore === null || usd === undefined || usdBefore === undefined
    ? undefined
    : usd - usdBefore;
}

/** Returns what another refund changes in a sum of refunds. Empty for a single refund. */
const listSumKeys = ({ latestDate, isSum, quantity, amountMicros }: PartialRefund): number[] =>
  [latestDate, isSum && (quantity ?? amountMicros)].filter((key) => typeof key === 'number');

/**
 * Lists a key for each final refund of the transactions: the id of each partial refund, and the full refund of a
 * transaction. The key of a sum of refunds changes with each later one.
 */
export const listRefundKeys = (transactions: readonly Transaction[]): string[] =>
  transactions.flatMap(({ transactionId, partialRefunds = [], refundedAt }) => [
    ...partialRefunds
      .filter((refund) => refund.status === undefined && !isReturned(refund) && !isLeftByReversal(refund))
      .map((refund) => toCanonicalJson([transactionId, refund.id, ...listSumKeys(refund)])),
    ...(refundedAt === undefined ? [] : [transactionId]),
  ]);
