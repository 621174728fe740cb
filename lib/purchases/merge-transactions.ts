import { chooseUsdRate, omitUsdRate } from '../money/usd-conversion.ts';
import { omitUndefined } from '../shared/omit-undefined.ts';
import type { EpochMillis } from '../shared/time.ts';
import { type AsOf, compareAsOf } from './as-of.ts';
import { toCanonicalJson } from './canonical-json.ts';
import type { PaymentFigures } from './payment-figures.ts';
import { mergePartialRefunds } from './refunds.ts';
import type { Transaction } from './transaction.ts';

/** A transaction with the as-of times of its state and of its amount, which can come from different observations. */
export interface ObservedTransaction extends AsOf {
  readonly amountAsOf: EpochMillis;
  readonly isAmountInferred?: true | undefined;
  readonly transaction: Transaction;
  /** Absent for a transaction that is not counted. */
  readonly figures?: PaymentFigures | undefined;
}

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

/** Merges two lists of transactions by id, sorted by purchase date. Idempotent and commutative. */
export function mergeTransactions(
  a: readonly ObservedTransaction[],
  b: readonly ObservedTransaction[],
): ObservedTransaction[] {
  const byId = new Map(a.map((observed) => [observed.transaction.transactionId, observed]));
  for (const observed of b) {
    const { transactionId } = observed.transaction;
    const existing = byId.get(transactionId);
    byId.set(transactionId, existing ? mergeTransaction(existing, observed) : observed);
  }
  return [...byId.values()].sort(
    (x, y) =>
      x.transaction.purchaseDate - y.transaction.purchaseDate ||
      (x.transaction.transactionId < y.transaction.transactionId ? -1 : 1),
  );
}

/**
 * Merges two observations of one transaction. Dates and refund come from the later observation, which can lack the
 * amount and whether it is a renewal. Partial refunds come from both. The amount comes from the observation with the
 * better amount, and the USD conversion is the best one for that amount.
 */
function mergeTransaction(a: ObservedTransaction, b: ObservedTransaction): ObservedTransaction {
  const state = isLaterObservation(b, a) ? b : a;
  const amountSource = hasBetterAmount(b, a) ? b : a;
  const partialRefunds = mergePartialRefunds(a.transaction.partialRefunds, b.transaction.partialRefunds);
  const transaction = {
    ...pickState(state.transaction),
    ...omitUndefined({ isRenewal: state.transaction.isRenewal ?? (state === a ? b : a).transaction.isRenewal }),
    ...pickAmount(amountSource.transaction),
    ...(partialRefunds && { partialRefunds }),
    ...omitUndefined({ plannedExpirationDate: findPlannedEnd(state.transaction, [a.transaction, b.transaction]) }),
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

/** Returns the latest end of the period that any observation has. Undefined if it is `expirationDate`. */
function findPlannedEnd(
  { expirationDate = 0 }: Transaction,
  observed: readonly Transaction[],
): EpochMillis | undefined {
  const ends = observed.flatMap((transaction) => [transaction.expirationDate, transaction.plannedExpirationDate]);
  const planned = Math.max(...ends.map((end) => end ?? 0));
  return planned > expirationDate ? planned : undefined;
}

/**
 * Whether `a` is later. Observations with the same as-of time are ordered by content, so that the merge is commutative.
 */
function isLaterObservation(a: ObservedTransaction, b: ObservedTransaction): boolean {
  const order = compareAsOf(a, b);
  if (order !== 0) return order > 0;
  return toCanonicalJson(pickState(a.transaction)) > toCanonicalJson(pickState(b.transaction));
}

/**
 * Whether the amount of `a` takes precedence. Store amounts take precedence over client amounts, and these over
 * estimates. The latest store
 * amount and the first client amount win: otherwise, resubmitting a receipt could change the revenue of a past day.
 */
function hasBetterAmount(a: ObservedTransaction, b: ObservedTransaction): boolean {
  const [rank, otherRank] = [rankAmount(a), rankAmount(b)];
  if (rank !== otherRank) return rank > otherRank;
  const order = compareAsOf(getAmountAsOf(a), getAmountAsOf(b));
  const isNewer =
    order === 0 ? toCanonicalJson(pickAmount(a.transaction)) > toCanonicalJson(pickAmount(b.transaction)) : order > 0;
  return rank === amountRanks.fromStore ? isNewer : !isNewer;
}

const amountRanks = { none: 0, estimated: 1, fromClient: 2, fromStore: 3 } as const;

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
  const { partialRefunds, plannedExpirationDate, ...rest } = others;
  return rest;
}
