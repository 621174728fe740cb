import { toAmountUsd } from '../money/usd-amount.ts';
import { dayMs, type EpochMillis } from '../shared/time.ts';
import { listRefundedAmounts } from './refunds.ts';
import type { Transaction } from './transaction.ts';

/**
 * Micros of US dollars: before refunds, after refunds, proceeds (after refunds, commission and tax), and the proceeds
 * that the store reports.
 */
export type PaymentAmounts = readonly [gross: number, net: number, proceeds: number, reported: number];

/** Computes the amounts of a payment with the refunds before `until`. `share` is the developer's part of 10,000. */
export function computePaymentAmounts(transaction: Transaction, share: number, until = Infinity): PaymentAmounts {
  const gross = toUsdMicros(toAmountUsd(transaction));
  const refunded = listRefundedAmounts(transaction)
    .filter(({ date }) => date < until)
    .reduce((sum, { amountUsd }) => sum + toUsdMicros(amountUsd), 0);
  const net = gross - refunded;
  const { storeProceedsMicros: amountMicros } = transaction;
  const reported = amountMicros === undefined ? null : toAmountUsd({ ...transaction, amountMicros });
  if (reported === null) return [gross, net, divideHalfUp(net * share, 10_000), 0];
  return [gross, net, toUsdMicros(reported), toUsdMicros(reported)];
}

const toUsdMicros = (usd: number | null | undefined): number => Math.round((usd ?? 0) * 1_000_000);

/** Rounds half up. Exact for amounts up to a million dollars. */
const divideHalfUp = (dividend: number, divisor: number): number =>
  Number((2n * BigInt(dividend) + BigInt(divisor)) / (2n * BigInt(divisor)));

export const mapAmounts = (
  [gross, net, proceeds, reported]: PaymentAmounts,
  convert: (amount: number, index: number) => number,
): PaymentAmounts => [convert(gross, 0), convert(net, 1), convert(proceeds, 2), convert(reported, 3)];

/** Lengths in days of periods of whole months. Four weeks count as a month. */
const monthLengths: readonly (readonly [months: number, minDays: number, maxDays: number])[] = [
  [1, 28, 31],
  [2, 59, 62],
  [3, 89, 92],
  [4, 120, 123],
  [6, 181, 184],
  [12, 365, 366],
  [24, 730, 731],
  [36, 1095, 1096],
];

type Period = Pick<Transaction, 'purchaseDate' | 'periodStartDate' | 'expirationDate'>;

/**
 * Converts amounts of a paid period to amounts of a month. Periods of other lengths than whole months count by days:
 * 30.4375 are a month. The length is that of the period that was paid, not of its part until a refund.
 */
function toMonthlyAmounts(
  amounts: PaymentAmounts,
  { purchaseDate, periodStartDate = purchaseDate, expirationDate = periodStartDate }: Period,
): PaymentAmounts {
  const days = Math.max(1, Math.round((expirationDate - periodStartDate) / dayMs));
  const months = monthLengths.find(([, minDays, maxDays]) => days >= minDays && days <= maxDays)?.[0];
  return mapAmounts(amounts, (amount) =>
    months === undefined ? divideHalfUp(amount * 304_375, 10_000 * days) : divideHalfUp(amount, months),
  );
}

/** Computes the monthly amounts of a subscription payment with the refunds before `until`. */
export const computeMonthlyAmounts = (transaction: Transaction, share: number, until: EpochMillis): PaymentAmounts =>
  toMonthlyAmounts(computePaymentAmounts(transaction, share, until), transaction);
