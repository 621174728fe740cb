import type { ObservedTransaction } from './merge-transactions.ts';
import type { Purchase } from './purchase.ts';
import { isTrialWithFee, type Transaction } from './transaction.ts';

/** A free period lacks an amount, and a trial only a fee. The amount can be unknown. */
export const isPayment = (transaction: Transaction): boolean =>
  !transaction.isPending && (transaction.isTrialPeriod ? isTrialWithFee(transaction) : transaction.amountMicros !== 0);

/** The transaction pays the period, or a credit of an earlier payment does. */
const isPaidPeriod = (transaction: Transaction): boolean =>
  !transaction.isPending &&
  !transaction.isTrialPeriod &&
  transaction.expirationDate !== undefined &&
  (isPayment(transaction) || (transaction.plan?.amountMicros ?? 0) > 0);

/** Returns the transactions by date: the order of stored ones is that of their ids. */
export const listByDate = (transactions: readonly ObservedTransaction[]): Transaction[] =>
  transactions
    .map(({ transaction }) => transaction)
    .sort((a, b) => a.purchaseDate - b.purchaseDate || (a.transactionId < b.transactionId ? -1 : 1));

interface PaidPeriods {
  /** By date of payment. */
  readonly periods: readonly Transaction[];
  /** The period that the end of the purchase applies to. */
  readonly present: Transaction | undefined;
  /**
   * Finds the payment of the whole period for an additional payment, such as for added seats or a plan change, which
   * pays the rest of the period.
   */
  readonly findWhole: (period: Transaction) => Transaction | undefined;
}

/** Lists the paid periods. An additional payment for a period follows the payment of the whole one. */
export function listPaidPeriods(
  { transactionId }: Purchase,
  transactions: readonly ObservedTransaction[],
): PaidPeriods {
  const periods = listByDate(transactions).filter(isPaidPeriod);
  const findWhole = (period: Transaction): Transaction | undefined =>
    period.isRenewal === false ? periods.find((other) => isWholePeriod(other, period)) : undefined;
  const getWhole = (period: Transaction): Transaction => findWhole(period) ?? period;
  const payment = periods.find((period) => period.transactionId === transactionId);
  const present = payment && periods.findLast((period) => getWhole(period) === getWhole(payment));
  return { periods, present, findWhole };
}

const isWholePeriod = (whole: Transaction, { purchaseDate, expirationDate }: Transaction): boolean =>
  !whole.isReplaced && whole.purchaseDate < purchaseDate && whole.expirationDate === expirationDate;
