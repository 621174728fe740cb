import { dayMs, type EpochMillis } from '../foundation/time.ts';
import { isPayment } from '../purchases/paid-periods.ts';
import { isProcessor } from '../purchases/payment-amounts.ts';
import type { PaymentFigures } from '../purchases/payment-figures.ts';
import type { Transaction } from '../purchases/transaction.ts';
import { toCountedCurrency } from './counted-currency.ts';
import { toPriceName } from './counter-names.ts';
import type { Counts } from './counts.ts';

/**
 * Counts a payment of the regular price of its product, from which price changes are found. Trials, offers and payments
 * for a part of a period have other prices. Processors add the tax of the customer's place, so theirs is without tax.
 */
export function countPrice(transaction: Transaction, { isByCell, isFurther }: PaymentFigures): Counts {
  const { isTrialPeriod, isIntroPeriod, offerType, plan, isEstimatedAmount, isReplaced } = transaction;
  const hasOtherPrice = isTrialPeriod || isIntroPeriod || offerType !== undefined || plan || isFurther || isReplaced;
  // Payments of an earlier release are counted without it.
  if (!isByCell || !isPayment(transaction) || hasOtherPrice || isEstimatedAmount) return {};
  const { amountMicros = 0, taxMicros = 0, quantity = 1 } = transaction;
  const currency = toCountedCurrency(transaction);
  const micros = Math.round((amountMicros - (isProcessor(transaction) ? taxMicros : 0)) / Math.max(1, quantity));
  return currency === undefined || micros <= 0 ? {} : { [toPriceName(currency, toPeriod(transaction), micros)]: 1 };
}

/** Products can have several periods with different prices. Whole months differ by days. */
function toPeriod({ purchaseDate, periodStartDate = purchaseDate, expirationDate }: Transaction): string {
  if (expirationDate === undefined) return '';
  const days = countDays(periodStartDate, expirationDate);
  return days < 28 ? `${days}D` : `${Math.round(days / 30.4375)}M`;
}

const countDays = (from: EpochMillis, until: EpochMillis): number => Math.max(1, Math.round((until - from) / dayMs));
