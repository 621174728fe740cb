import { chooseUsdRate, omitUsdRate } from '../money/usd-conversion.ts';
import { omitUndefined } from '../shared/omit-undefined.ts';
import type { EpochMillis } from '../shared/time.ts';
import { toCanonicalJson } from './canonical-json.ts';
import type { Transaction } from './transaction.ts';

/** A transaction, and the looks that told of it and of its amount. */
export interface ObservedTransaction {
  readonly asOf: EpochMillis;
  readonly amountAsOf: EpochMillis;
  readonly transaction: Transaction;
}

const lastMoment = 9_999_999_999_999;

/** Of a look that guesses its transactions, as the store did not tell them: older than any to which it did. */
export const toInferredAsOf = (asOf: EpochMillis): EpochMillis => asOf - lastMoment;

/** A transaction as one look shows it. */
export const toObservedTransaction = (transaction: Transaction, asOf: EpochMillis): ObservedTransaction => ({
  asOf,
  amountAsOf: asOf,
  transaction,
});

/** All transactions of both, by date; of one that both know what counts of each. */
export function mergeTransactions(
  one: readonly ObservedTransaction[],
  other: readonly ObservedTransaction[],
): ObservedTransaction[] {
  const byId = new Map(one.map((known) => [known.transaction.transactionId, known]));
  for (const candidate of other) {
    const present = byId.get(candidate.transaction.transactionId);
    byId.set(candidate.transaction.transactionId, present ? mergeTransaction(present, candidate) : candidate);
  }
  return [...byId.values()].sort(
    (a, b) =>
      a.transaction.purchaseDate - b.transaction.purchaseDate ||
      (a.transaction.transactionId < b.transaction.transactionId ? -1 : 1),
  );
}

/**
 * What two looks tell of a transaction: its dates and what became of it from the later look, which may not know what was
 * paid; the amount from the look whose word of it counts more; and the best rate that either has for that amount.
 */
function mergeTransaction(one: ObservedTransaction, other: ObservedTransaction): ObservedTransaction {
  const state = isLaterObservation(other, one) ? other : one;
  const amountSource = hasBetterAmount(other, one) ? other : one;
  const transaction = { ...omitAmount(state.transaction), ...pickAmount(amountSource.transaction) };
  const rate = chooseUsdRate(transaction, [one.transaction, other.transaction]);
  return { asOf: state.asOf, amountAsOf: amountSource.amountAsOf, transaction: { ...transaction, ...rate } };
}

function isLaterObservation(one: ObservedTransaction, other: ObservedTransaction): boolean {
  if (one.asOf !== other.asOf) return one.asOf > other.asOf;
  return toCanonicalJson(omitAmount(one.transaction)) > toCanonicalJson(omitAmount(other.transaction));
}

/**
 * The store's amount beats the client's, any amount beats none. Of what the store says the later counts, of what clients say
 * the first: nobody moves the money of a past day by showing a receipt again.
 */
function hasBetterAmount(one: ObservedTransaction, other: ObservedTransaction): boolean {
  const [worth, otherWorth] = [rankAmount(one), rankAmount(other)];
  if (worth !== otherWorth) return worth > otherWorth;
  const isNewer =
    one.amountAsOf === other.amountAsOf
      ? toCanonicalJson(pickAmount(one.transaction)) > toCanonicalJson(pickAmount(other.transaction))
      : one.amountAsOf > other.amountAsOf;
  return worth === amountRanks.fromClient ? !isNewer : isNewer;
}

const amountRanks = { none: 0, fromClient: 1, fromStore: 2 } as const;

const rankAmount = ({ transaction: { amountMicros, isReportedAmount } }: ObservedTransaction): number =>
  amountMicros === undefined ? amountRanks.none : isReportedAmount ? amountRanks.fromClient : amountRanks.fromStore;

const pickAmount = ({ currency, amountMicros, isReportedAmount }: Transaction): Partial<Transaction> =>
  omitUndefined({ currency, amountMicros, isReportedAmount });

function omitAmount(transaction: Transaction): Transaction {
  const { currency, amountMicros, isReportedAmount, ...rest } = omitUsdRate(transaction);
  return rest;
}
