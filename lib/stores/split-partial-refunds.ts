import { splitAmount } from '../foundation/split-amount.ts';
import type { PartialRefund } from '../purchases/transaction.ts';

/**
 * Splits refunds of a payment among its parts, in proportion to what is left of them: the store does not report which
 * part was refunded. Amounts are micros, `unit` is the smallest unit of the currency.
 */
export function splitPartialRefunds(
  refunds: readonly PartialRefund[],
  amounts: readonly number[],
  unit: number,
): PartialRefund[][] {
  let remaining = amounts;
  const split = refunds.map((refund) => {
    const parts = splitAmount(refund.amountMicros ?? 0, remaining, unit);
    if (refund.status !== 'returned') remaining = remaining.map((amount, index) => amount - (parts[index] ?? 0));
    return parts.map((amountMicros): PartialRefund => ({ ...refund, amountMicros }));
  });
  return amounts.map((_amount, index) =>
    split.flatMap((parts) => parts.slice(index, index + 1)).filter(({ amountMicros = 0 }) => amountMicros > 0),
  );
}
