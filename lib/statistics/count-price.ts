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
 * for a part of a period have other prices. The price is without the tax that the store reports, which depends on the
 * customer's place. A single payment at a processor can have any amount, and a counter item few prices.
 */
export function countPrice(transaction: Transaction, { isByCell, isFurther }: PaymentFigures): Counts {
  const { isTrialPeriod, isIntroPeriod, offerType, plan, isEstimatedAmount, isReplaced } = transaction;
  const hasOtherPrice = isTrialPeriod || isIntroPeriod || offerType !== undefined || plan || isFurther || isReplaced;
  const hasAnyAmount = isProcessor(transaction) && transaction.expirationDate === undefined;
  // Payments of an earlier release are counted without it.
  if (!isByCell || !isPayment(transaction) || hasOtherPrice || hasAnyAmount || isEstimatedAmount) return {};
  const { amountMicros = 0, taxMicros = 0, quantity = 1 } = transaction;
  const currency = toCountedCurrency(transaction);
  const micros = Math.round((amountMicros - taxMicros) / Math.max(1, quantity));
  return currency === undefined || micros <= 0 ? {} : { [toPriceName(currency, toPeriod(transaction), micros)]: 1 };
}

/** Products can have several periods with different prices. Whole months differ by days. */
function toPeriod({ purchaseDate, periodStartDate = purchaseDate, expirationDate }: Transaction): string {
  if (expirationDate === undefined) return '';
  const days = countDays(periodStartDate, expirationDate);
  return days < 28 ? `${days}D` : `${Math.round(days / 30.4375)}M`;
}

const countDays = (from: EpochMillis, until: EpochMillis): number => Math.max(1, Math.round((until - from) / dayMs));
