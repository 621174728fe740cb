import { addBillingPeriods } from '../foundation/billing-period.ts';
import { type Platform, platformTokens } from '../foundation/platform.ts';
import { dayMs, type EpochMillis } from '../foundation/time.ts';
import { toAmountUsd } from '../money/usd-conversion.ts';
import type { PaymentFigures } from './payment-figures.ts';
import { listRefundedAmounts } from './refunds.ts';
import type { PlanPrice, Transaction } from './transaction.ts';

const processors: ReadonlySet<Platform> = new Set([
  platformTokens.stripe,
  platformTokens.serviceStripe,
  platformTokens.braintree,
]);

export const isProcessor = ({ platform }: Transaction): boolean => processors.has(platform);

/**
 * Micros of US dollars: before refunds, after refunds, proceeds (after refunds, commission and tax), and the proceeds
 * that the store reports.
 */
export type PaymentAmounts = readonly [gross: number, net: number, proceeds: number, reported: number];

/** Computes the amounts of a payment with the refunds before `until`. `share` is the developer's part of 10,000. */
export function computePaymentAmounts(transaction: Transaction, share: number, until = Infinity): PaymentAmounts {
  const gross = toUsdMicros(toAmountUsd(transaction));
  const refunds = listRefundedAmounts(transaction);
  const sumRefunds = (before: EpochMillis): number =>
    refunds.filter(({ date }) => date < before).reduce((sum, { amountUsd }) => sum + toUsdMicros(amountUsd), 0);
  const net = gross - sumRefunds(until);
  const reported = computeReported(transaction, { net, kept: gross - sumRefunds(Infinity) });
  return reported === undefined
    ? [gross, net, computeProceeds(transaction, { gross, net, share }), 0]
    : [gross, net, reported, reported];
}

/**
 * Computes the proceeds that the store reports. It reports them after all refunds: before a refund, they had the same
 * part of the price. Undefined if that part is unknown, because the whole payment was refunded.
 */
function computeReported(
  transaction: Transaction,
  { net, kept }: { readonly net: number; readonly kept: number },
): number | undefined {
  const { storeProceedsMicros: amountMicros } = transaction;
  const usd = amountMicros === undefined ? null : toAmountUsd({ ...transaction, amountMicros });
  if (usd === null) return undefined;
  const reported = toUsdMicros(usd);
  if (net === kept) return reported;
  return kept > 0 ? multiplyHalfUp(reported, net, kept) : undefined;
}

/**
 * Computes what is left of a payment after commission and tax. Refunds return their part of the tax. Marketplaces take
 * their commission from the price without tax, processors from the whole payment.
 * @see https://developer.apple.com/help/app-store-connect/measure-app-performance/differences-in-reporting-tools
 * @see https://docs.stripe.com/tax
 */
function computeProceeds(
  transaction: Transaction,
  { gross, net, share }: { readonly gross: number; readonly net: number; readonly share: number },
): number {
  const tax = gross > 0 ? computeReportedTax(transaction, net) : 0;
  return isProcessor(transaction) ? multiplyHalfUp(net, share, 10_000) - tax : multiplyHalfUp(net - tax, share, 10_000);
}

/** Computes the tax in a part of the payment that the store reports. */
const computeReportedTax = ({ amountMicros = 0, taxMicros = 0 }: Transaction, net: number): number =>
  amountMicros > 0 ? multiplyHalfUp(net, taxMicros, amountMicros) : 0;

/**
 * Computes the tax in what is left of a payment after refunds: the tax that the store reports, or the tax by the rate
 * of commission (`taxShare`, in hundredths of a percent).
 */
export const computeTax = (transaction: Transaction, net: number, taxShare = 0): number =>
  transaction.taxMicros === undefined ? multiplyHalfUp(net, taxShare, 10_000) : computeReportedTax(transaction, net);

const toUsdMicros = (usd: number | null | undefined): number => Math.round((usd ?? 0) * 1_000_000);

/** Returns `amount * factor / divisor`, rounded half up. */
const multiplyHalfUp = (amount: number, factor: number, divisor: number): number =>
  Number((2n * BigInt(amount) * BigInt(factor) + BigInt(divisor)) / (2n * BigInt(divisor)));
const divideHalfUp = (dividend: number, divisor: number): number => multiplyHalfUp(dividend, 1, divisor);

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

/**
 * Computes the amounts of a month of a subscription payment with the refunds before `until`. The plan determines them
 * if the payment is not for a whole period. Otherwise, it is the length of the period that was paid, not of its
 * part until a refund or a plan change.
 */
export function computeMonthlyAmounts(transaction: Transaction, share: number, until: EpochMillis): PaymentAmounts {
  const { purchaseDate, periodStartDate = purchaseDate, expirationDate = periodStartDate, plan } = transaction;
  const amounts = computePaymentAmounts(transaction, share, until);
  if (!plan) {
    const { isReplaced, plannedExpirationDate = expirationDate } = transaction;
    return toMonthlyAmounts(amounts, (isReplaced ? plannedExpirationDate : expirationDate) - periodStartDate);
  }
  const planAmounts = computePlanAmounts(transaction, { amounts, share, plan });
  return toMonthlyAmounts(planAmounts, addBillingPeriods(periodStartDate, plan.period) - periodStartDate);
}

/**
 * Computes the amounts of a month of a paid period with the refunds before `until`. The refund of an additional payment
 * for the rest of a period leaves the amounts of the payment before it.
 */
export function computePeriodAmounts(
  transaction: Transaction,
  figures: PaymentFigures,
  until: EpochMillis,
): PaymentAmounts {
  const { share, isFurther, previous } = figures;
  if (!isFurther || !previous) return computeMonthlyAmounts(transaction, share, until);
  const started = computeMonthlyAmounts(transaction, share, transaction.purchaseDate);
  const [gross, net] = computePaymentAmounts(transaction, share, until);
  const { monthly = started } = previous;
  return mapAmounts(started, (amount, index) =>
    index === 0 || gross <= 0
      ? amount
      : multiplyHalfUp(amount, net, gross) + multiplyHalfUp(monthly[index] ?? 0, gross - net, gross),
  );
}

/** Micros of any currency convert to US dollars at the rate 1. */
export const toLocal = (transaction: Transaction): Transaction => ({ ...transaction, currency: 'USD' });

/**
 * Computes the part of the change from the period before that its exchange rate makes: the change of the price counts
 * at the new rate. Zero for another currency than in the period before.
 */
export function computeExchange(
  transaction: Transaction,
  { share, isByCell, previous }: PaymentFigures,
): PaymentAmounts {
  const { purchaseDate, currency = 'USD' } = transaction;
  if (!isByCell || !previous || previous.currency !== undefined || currency === 'USD') return [0, 0, 0, 0];
  const started = computeMonthlyAmounts(transaction, share, purchaseDate);
  const { monthly = started, local } = previous;
  const own = computeMonthlyAmounts(toLocal(transaction), share, purchaseDate);
  return mapAmounts(started, (amount, index) => {
    const [before = 0, whole = 0] = [monthly[index], own[index]];
    const change = local ? whole - (local[index] ?? 0) : 0;
    if (change !== 0 && whole <= 0) return 0;
    const priceChange = change === 0 ? 0 : Math.sign(change) * multiplyHalfUp(amount, Math.abs(change), whole);
    return amount - before - priceChange;
  });
}

/** Computes the amounts of a whole period of the plan. The same part of it is refunded as of the payment. */
function computePlanAmounts(
  transaction: Transaction,
  { amounts, share, plan }: { readonly amounts: PaymentAmounts; readonly share: number; readonly plan: PlanPrice },
): PaymentAmounts {
  const { amountMicros } = plan;
  const { storeProceedsMicros: _proceeds, ...payment } = transaction;
  const taxMicros = findPeriodTax(transaction) ?? 0;
  const whole = computePaymentAmounts({ ...payment, amountMicros, taxMicros }, share, -Infinity);
  const [gross, net] = amounts;
  const toKept = (amount: number): number => (gross > 0 ? multiplyHalfUp(amount, net, gross) : amount);
  return [whole[0], toKept(whole[1]), toKept(whole[2]), toKept(whole[3])];
}

/**
 * Finds the tax within the price of the period that a payment pays. If the store reports only the tax of the payment,
 * the price has the same part of it. Undefined if it is not known, including if a credit pays the period.
 */
export function findPeriodTax({ plan, amountMicros = 0, taxMicros }: Transaction): number | undefined {
  if (!plan) return taxMicros;
  const isKnown = taxMicros !== undefined && amountMicros > 0;
  return plan.taxMicros ?? (isKnown ? multiplyHalfUp(taxMicros, plan.amountMicros, amountMicros) : undefined);
}

/** Periods of other lengths than whole months count by days: 30.4375 are a month. */
function toMonthlyAmounts(amounts: PaymentAmounts, periodMs: number): PaymentAmounts {
  const days = Math.max(1, Math.round(periodMs / dayMs));
  const months = monthLengths.find(([, minDays, maxDays]) => days >= minDays && days <= maxDays)?.[0];
  return mapAmounts(amounts, (amount) =>
    months === undefined ? multiplyHalfUp(amount, 304_375, 10_000 * days) : divideHalfUp(amount, months),
  );
}
