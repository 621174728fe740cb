import { defined } from '../defined.ts';
import { keptRate, unrated } from '../money/priced.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { canonical } from './canonical.ts';
import type { Millis } from './purchase.ts';

/** A transaction, and the looks that told of it and of its amount. */
export interface KnownTransaction {
  readonly asOf: Millis;
  readonly amountAsOf: Millis;
  readonly transaction: Transaction;
}

const lastMoment = 9_999_999_999_999;

/** Of a look that guesses its transactions, as the store did not tell them: older than any to which it did. */
export const guessedAsOf = (asOf: Millis): Millis => asOf - lastMoment;

/** A transaction as one look shows it. */
export const learned = (transaction: Transaction, asOf: Millis): KnownTransaction => ({
  asOf,
  amountAsOf: asOf,
  transaction,
});

/** All transactions of both, by date; of one that both know what counts of each. */
export function mergeTransactions(
  one: readonly KnownTransaction[],
  other: readonly KnownTransaction[],
): KnownTransaction[] {
  const byId = new Map(one.map((known) => [known.transaction.transactionId, known]));
  for (const candidate of other) {
    const present = byId.get(candidate.transaction.transactionId);
    byId.set(candidate.transaction.transactionId, present ? together(present, candidate) : candidate);
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
function together(one: KnownTransaction, other: KnownTransaction): KnownTransaction {
  const state = isLater(other, one) ? other : one;
  const paying = isBetterPaid(other, one) ? other : one;
  const transaction = { ...withoutAmount(state.transaction), ...amountOf(paying.transaction) };
  const rate = keptRate(transaction, [one.transaction, other.transaction]);
  return { asOf: state.asOf, amountAsOf: paying.amountAsOf, transaction: { ...transaction, ...rate } };
}

function isLater(one: KnownTransaction, other: KnownTransaction): boolean {
  if (one.asOf !== other.asOf) return one.asOf > other.asOf;
  return canonical(withoutAmount(one.transaction)) > canonical(withoutAmount(other.transaction));
}

/**
 * The store's amount beats the client's, any amount beats none. Of what the store says the later counts, of what clients say
 * the first: nobody moves the money of a past day by showing a receipt again.
 */
function isBetterPaid(one: KnownTransaction, other: KnownTransaction): boolean {
  const [worth, otherWorth] = [worthOf(one), worthOf(other)];
  if (worth !== otherWorth) return worth > otherWorth;
  const isNewer =
    one.amountAsOf === other.amountAsOf
      ? canonical(amountOf(one.transaction)) > canonical(amountOf(other.transaction))
      : one.amountAsOf > other.amountAsOf;
  return worth === worths.reported ? !isNewer : isNewer;
}

const worths = { none: 0, reported: 1, told: 2 } as const;

const worthOf = ({ transaction: { amountMicros, isReportedAmount } }: KnownTransaction): number =>
  amountMicros === undefined ? worths.none : isReportedAmount ? worths.reported : worths.told;

const amountOf = ({ currency, amountMicros, isReportedAmount }: Transaction): Partial<Transaction> =>
  defined({ currency, amountMicros, isReportedAmount });

function withoutAmount(transaction: Transaction): Transaction {
  const { currency, amountMicros, isReportedAmount, ...rest } = unrated(transaction);
  return rest;
}
