import type { EpochMillis } from '../foundation/time.ts';
import { computePaymentAmounts, computeTax, toLocal } from '../purchases/payment-amounts.ts';
import type { PaymentFigures } from '../purchases/payment-figures.ts';
import { listRefundedAmounts } from '../purchases/refunds.ts';
import type { Transaction } from '../purchases/transaction.ts';
import { toCountedCurrency } from './counted-currency.ts';
import { type RevenueSum, toRevenueName } from './counter-names.ts';
import { addCounts, type Counts } from './counts.ts';

type Shares = Pick<PaymentFigures, 'share' | 'taxShare'>;

/**
 * Lists the money of a payment by date, in US dollars and in its currency: the payment before refunds, then what each
 * refund changes. Their sum is what is left after all refunds.
 */
export function listRevenue(transaction: Transaction, shares: Shares): (readonly [EpochMillis, Counts])[] {
  const refundDates = new Set(listRefundedAmounts(transaction).map(({ date }) => date));
  let before: Counts = {};
  const take = (date: EpochMillis, until: EpochMillis): readonly [EpochMillis, Counts] => {
    const sums = sumUntil(transaction, shares, until);
    const change = addCounts(sums, before, -1);
    before = sums;
    return [date, change];
  };
  return [
    take(transaction.purchaseDate, -Infinity),
    ...[...refundDates].sort((a, b) => a - b).map((date) => take(date, date + 1)),
  ];
}

/** Returns the money of a payment with the refunds before `until`. */
function sumUntil(transaction: Transaction, shares: Shares, until: EpochMillis): Counts {
  const currency = toCountedCurrency(transaction);
  if (currency === undefined) return {};
  const { reported: _reported, ...inCurrency } = computeSums(toLocal(transaction), shares, until);
  return addCounts(toNames('usd', computeSums(transaction, shares, until)), toNames(currency, inCurrency));
}

type RevenueSums = Readonly<Record<RevenueSum, number>>;

function computeSums(transaction: Transaction, { share, taxShare }: Shares, until: EpochMillis): RevenueSums {
  const [gross, net, proceeds, reported] = computePaymentAmounts(transaction, share, until);
  return { gross, refunds: gross - net, tax: computeTax(transaction, net, taxShare), proceeds, reported };
}

const toNames = (unit: string, sums: Partial<RevenueSums>): Counts =>
  Object.fromEntries(Object.entries(sums).map(([sum, micros]) => [toRevenueName(unit, sum as RevenueSum), micros]));
