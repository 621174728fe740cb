import { toCanonicalJson } from '../foundation/canonical-json.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { chooseUsdRate, omitUsdRate } from '../money/usd-conversion.ts';
import type { PaymentFigures } from './payment-figures.ts';
import { chooseSmaller, listUnreversed, mergePartialRefunds } from './refunds.ts';
import type { Transaction } from './transaction.ts';

/** How current data from a store is. */
export interface AsOf {
  /** Time on the store's clock up to which the data is complete. */
  readonly asOf: EpochMillis;
  /** Data that the store reports takes precedence over inferred data, regardless of its time. */
  readonly isInferred?: true | undefined;
}

/** A transaction with the as-of times of its state and of its amount, which can come from different observations. */
export interface ObservedTransaction extends AsOf {
  readonly amountAsOf: EpochMillis;
  readonly isAmountInferred?: true | undefined;
  readonly transaction: Transaction;
  /** Absent for a transaction that is not counted. */
  readonly figures?: PaymentFigures | undefined;
}

const amountRanks = { none: 0, estimated: 1, fromClient: 2, fromStore: 3 } as const;

/** Creates the observed transaction of an observation. */
export const toObservedTransaction = (transaction: Transaction, { asOf, isInferred }: AsOf): ObservedTransaction => ({
  asOf,
  amountAsOf: asOf,
  ...(isInferred && { isInferred, isAmountInferred: isInferred }),
  transaction,
});

const getAmountAsOf = ({ amountAsOf, isAmountInferred }: ObservedTransaction): AsOf => ({
  asOf: amountAsOf,
  isInferred: isAmountInferred,
});

/**
 * Merges two lists of transactions by id and sale, sorted by purchase date. A sale has the first one of its transaction
 * ids. Idempotent and commutative.
 */
export function mergeTransactions(
  a: readonly ObservedTransaction[],
  b: readonly ObservedTransaction[],
): ObservedTransaction[] {
  const merged = new Map<string, ObservedTransaction>();
  const idsBySale = new Map<string, string>();
  const ofWholePurchase = [...a, ...b].find(({ transaction }) => isWholePurchase(transaction))?.transaction;
  for (const observed of [...a, ...b]) {
    const { transactionId, saleId = ofWholePurchase?.saleId } = observed.transaction;
    const matches = [transactionId, saleId === undefined ? undefined : idsBySale.get(saleId)];
    let sum = observed;
    for (const id of matches) {
      const existing = id === undefined ? undefined : merged.get(id);
      if (id === undefined || !existing) continue;
      merged.delete(id);
      sum = mergeTransaction(existing, sum);
    }
    merged.set(sum.transaction.transactionId, sum);
    const mergedSaleId = saleId ?? sum.transaction.saleId;
    if (mergedSaleId !== undefined) idsBySale.set(mergedSaleId, sum.transaction.transactionId);
  }
  return [...merged.values()].sort(
    (x, y) =>
      x.transaction.purchaseDate - y.transaction.purchaseDate ||
      (x.transaction.transactionId < y.transaction.transactionId ? -1 : 1),
  );
}

/** All transactions of the purchase are one sale. A release without sale ids has stored others of it. */
const isWholePurchase = ({ saleId, purchaseId }: Transaction): boolean => saleId === purchaseId;

/** Finds the id that the sale of a transaction has in the merged transactions. */
export function findMergedId(
  transactionId: string,
  unmerged: readonly ObservedTransaction[],
  merged: readonly ObservedTransaction[],
): string | undefined {
  const own = unmerged.filter(({ transaction }) => transaction.transactionId === transactionId);
  if (own.length === 0) return undefined;
  const saleIds = new Set(own.flatMap(({ transaction }) => transaction.saleId ?? []));
  const isOfSale = ({ saleId = '', ...transaction }: Transaction): boolean =>
    transaction.transactionId === transactionId || saleIds.has(saleId) || saleId === transaction.purchaseId;
  return merged.find(({ transaction }) => isOfSale(transaction))?.transaction.transactionId;
}

/** Compares ids of a store, which are numbers without leading zeros or texts of one length. */
const compareIds = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : Number(a > b));

/**
 * Merges two observations of one sale. Id and purchase date come from the first transaction of the sale. Other dates
 * and refund come from the later observation, and what it can lack from either: see `mergeFacts`. The amount comes from
 * the observation with the better amount, and the USD conversion is the best one for that amount.
 */
function mergeTransaction(a: ObservedTransaction, b: ObservedTransaction): ObservedTransaction {
  const [state, other] = isLaterObservation(b, a) ? [b, a] : [a, b];
  const idOrder = compareIds(a.transaction.transactionId, b.transaction.transactionId);
  const { transactionId, purchaseDate } = (idOrder === 0 ? state : idOrder < 0 ? a : b).transaction;
  const amountSource = hasBetterAmount(b, a) ? b : a;
  const transaction = {
    ...pickState(state.transaction),
    transactionId,
    purchaseDate,
    ...mergeFacts(state.transaction, other.transaction),
    ...pickAmount(amountSource.transaction),
  };
  const usdConversion = chooseUsdRate(transaction, [a.transaction, b.transaction]);
  return {
    asOf: state.asOf,
    amountAsOf: amountSource.amountAsOf,
    ...(state.isInferred && { isInferred: state.isInferred }),
    ...(amountSource.isAmountInferred && { isAmountInferred: amountSource.isAmountInferred }),
    transaction: { ...transaction, ...usdConversion },
  };
}

/**
 * Merges the facts that an observation can lack, because queries of its store do not show them. A refund that the store
 * does not date keeps the date on which it was first seen, as long as the store reports it.
 */
function mergeFacts(state: Transaction, other: Transaction): Partial<Transaction> {
  const refundSeenAt = chooseSmaller(state.refundSeenAt, other.refundSeenAt);
  const clawbacks = (state.clawbacks ?? other.clawbacks) && { ...state.clawbacks, ...other.clawbacks };
  return omitUndefined({
    saleId: state.saleId ?? other.saleId,
    isRenewal: state.isRenewal ?? other.isRenewal,
    voidReason: state.voidReason ?? other.voidReason,
    credits: chooseCredits(state, other),
    partialRefunds: mergePartialRefunds(state.partialRefunds, other.partialRefunds),
    plannedExpirationDate: findPlannedEnd(state, [state, other]),
    refundSeenAt,
    clawbacks,
    refundedAt: clawbacks
      ? listUnreversed(clawbacks).findLast(({ isPartial }) => !isPartial)?.date
      : state.refundedAt && chooseSmaller(state.refundedAt, refundSeenAt),
  });
}

/** One of two concurrent observations can have read an earlier catalogue: the order of contents decides. */
const chooseCredits = ({ credits: a }: Transaction, { credits: b }: Transaction): Transaction['credits'] =>
  a && b && toCanonicalJson(a) > toCanonicalJson(b) ? b : (a ?? b);

/** Returns the latest end of the period that any observation has. Undefined if it is `expirationDate`. */
function findPlannedEnd(
  { expirationDate = 0 }: Transaction,
  observed: readonly Transaction[],
): EpochMillis | undefined {
  const planned = Math.max(
    ...observed.flatMap((transaction) => [transaction.expirationDate ?? 0, transaction.plannedExpirationDate ?? 0]),
  );
  return planned > expirationDate ? planned : undefined;
}

/** Orders observations with the same as-of time by content, so that the merge is commutative. */
function isLaterObservation(a: ObservedTransaction, b: ObservedTransaction): boolean {
  const order = compareAsOf(a, b);
  if (order !== 0) return order > 0;
  return toCanonicalJson(pickState(a.transaction)) > toCanonicalJson(pickState(b.transaction));
}

/**
 * Store amounts take precedence over client amounts, and these over estimates. The latest store amount and the first
 * client amount win: otherwise, resubmitting a receipt could change the revenue of a past day.
 */
function hasBetterAmount(a: ObservedTransaction, b: ObservedTransaction): boolean {
  const [rank, otherRank] = [rankAmount(a), rankAmount(b)];
  if (rank !== otherRank) return rank > otherRank;
  const order = compareAsOf(getAmountAsOf(a), getAmountAsOf(b));
  const isNewer =
    order === 0 ? toCanonicalJson(pickAmount(a.transaction)) > toCanonicalJson(pickAmount(b.transaction)) : order > 0;
  return rank === amountRanks.fromStore ? isNewer : !isNewer;
}

function rankAmount({ transaction }: ObservedTransaction): number {
  if (transaction.amountMicros === undefined) return amountRanks.none;
  if (transaction.isEstimatedAmount) return amountRanks.estimated;
  return transaction.isReportedAmount ? amountRanks.fromClient : amountRanks.fromStore;
}

const pickAmount = ({
  currency,
  amountMicros,
  taxMicros,
  plan,
  isReportedAmount,
  isEstimatedAmount,
}: Transaction): Partial<Transaction> =>
  omitUndefined({ currency, amountMicros, taxMicros, plan, isReportedAmount, isEstimatedAmount });

/** Removes the fields that are merged on their own. */
function pickState(transaction: Transaction): Transaction {
  const { currency, amountMicros, taxMicros, plan, isReportedAmount, isEstimatedAmount, ...others } =
    omitUsdRate(transaction);
  const { partialRefunds, plannedExpirationDate, credits, clawbacks, refundSeenAt, ...rest } = others;
  const { refundedAt, ...unrefunded } = rest;
  return clawbacks ? unrefunded : rest;
}

/**
 * Returns a positive number if `a` is more current than `b`, a negative one if it is less current, and 0 if neither is.
 */
export const compareAsOf = (a: AsOf, b: AsOf): number =>
  Number(b.isInferred === true) - Number(a.isInferred === true) || a.asOf - b.asOf;

/** The transactions that differ between two states of a purchase. */
export interface TransactionChanges {
  /** New or changed. */
  readonly changedTransactions: readonly ObservedTransaction[];
  /** Merged with another one of their sale. */
  readonly removedTransactions: readonly ObservedTransaction[];
  /** Unchanged, but their figures have changed. */
  readonly changedFigures: readonly ObservedTransaction[];
}

/** Builds the canonical form of each transaction once: a validation compares all of them. */
export function compareTransactions(
  before: readonly ObservedTransaction[],
  after: readonly ObservedTransaction[],
): TransactionChanges {
  const earlier = new Map(before.map((observed) => [toCanonicalJson(observed.transaction), observed]));
  const ids = new Set(after.map(({ transaction }) => transaction.transactionId));
  const [changedTransactions, changedFigures]: [ObservedTransaction[], ObservedTransaction[]] = [[], []];
  for (const observed of after) {
    const unchanged = earlier.get(toCanonicalJson(observed.transaction));
    if (!unchanged) changedTransactions.push(observed);
    else if (hasOtherFigures(unchanged, observed)) changedFigures.push(observed);
  }
  const removedTransactions = before.filter(({ transaction }) => !ids.has(transaction.transactionId));
  return { changedTransactions, removedTransactions, changedFigures };
}

/** For example by the refund of an earlier transaction. */
const hasOtherFigures = (a: ObservedTransaction, b: ObservedTransaction): boolean =>
  toCanonicalJson(a.figures ?? {}) !== toCanonicalJson(b.figures ?? {});
