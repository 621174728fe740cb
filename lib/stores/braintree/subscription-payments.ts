import { addDays, countDaysBetween } from '../../foundation/calendar.ts';
import { dayMs, type EpochMillis, minuteMs } from '../../foundation/time.ts';
import type { PlanPrice } from '../../purchases/transaction.ts';
import { getLastPaidDay } from './access-end.ts';
import { toMicros } from './money.ts';
import type { BraintreeTransaction, Subscription } from './payloads.ts';
import { hasFailed, isPaid, isSettlementPending } from './payment-reversals.ts';

/** A payment of a subscription, and whether it is an additional one for a period that another payment started. */
export interface SubscriptionPayment {
  readonly payment: BraintreeTransaction;
  readonly isProration: boolean;
}

/** Braintree bills a period on its first day in the time zone of the gateway. */
const maxBillingDelayMs = 2 * dayMs;

/**
 * Finds the payments that start a period. A change of price or add-ons within a period charges the difference with a
 * separate payment, for the same billing period: it renews nothing, and its refund ends nothing. It is the only
 * payment of a period that a discount or the balance pays: the subscription was active in that period before. The retry
 * of a payment that was voided or whose settlement was declined starts the period.
 * @param payments the latest first
 * @see https://developer.paypal.com/braintree/docs/guides/recurring-billing/manage/node
 * @see https://developer.paypal.com/braintree/docs/reference/request/subscription/retry-charge/node
 */
export function markProrations(
  payments: readonly BraintreeTransaction[],
  subscription: Subscription,
): SubscriptionPayment[] {
  return payments.map((payment, index) => {
    const start = payment.subscription?.billingPeriodStartDate;
    const isOfSamePeriod = (earlier: BraintreeTransaction) => earlier.subscription?.billingPeriodStartDate === start;
    const earlier = start === undefined ? [] : payments.slice(index + 1).filter(isOfSamePeriod);
    return {
      payment,
      isProration: earlier.length > 0 ? earlier.some(isPaid) : isWithinFreePeriod(payment, subscription),
    };
  });
}

/** The period had started without the payment. A late payment of a period follows another status. */
function isWithinFreePeriod(
  { createdAt, subscription }: BraintreeTransaction,
  { statusHistory }: Pick<Subscription, 'statusHistory'>,
): boolean {
  const start = subscription?.billingPeriodStartDate;
  const paidAt = Date.parse(createdAt);
  if (start === undefined || paidAt < Date.parse(start) + maxBillingDelayMs) return false;
  return findEntryAt(paidAt - maxHistoryDelayMs, statusHistory)?.status === 'Active';
}

/**
 * Copies a subscription as past due if the payment of its current period failed: Braintree keeps it active for up to
 * two days of automatic retries, and when a debit fails days later. A free period has no failed payment.
 * @see https://developer.paypal.com/braintree/articles/guides/recurring-billing/recurring-advanced-settings
 */
export function markUnpaidPeriod(subscription: Subscription): Subscription {
  const { status, billingPeriodStartDate: start = '', billingPeriodEndDate: end = '', transactions } = subscription;
  const isFirst = start <= subscription.firstBillingDate && !subscription.trialPeriod;
  if (isFirst || (subscription.paidThroughDate ?? '') >= end) return subscription;
  const payments = transactions.filter((payment) => payment.subscription?.billingPeriodStartDate === start);
  const firstEnd = Date.parse(start) + maxBillingDelayMs;
  const isUnpaid =
    payments.some((payment) => hasFailed(payment) && Date.parse(payment.createdAt) < firstEnd) &&
    !payments.some((payment) => isPaid(payment) || isSettlementPending(payment));
  if (!isUnpaid) return subscription;
  return { ...subscription, status: status === 'Active' ? 'Past Due' : status, billingPeriodEndDate: undefined };
}

/**
 * The current period started after a payment and costs nothing, such as with a discount. Another period without a
 * payment is paid by the balance: Braintree credits the rest of a former plan, whose payment can be refunded. The
 * charge of a plan change since then can have paid it, too.
 * @see https://developer.paypal.com/braintree/docs/guides/recurring-billing/manage/node#proration
 * @see https://developer.paypal.com/braintree/docs/reference/general/webhooks/subscription/node
 */
export function isPaidWithoutPayment(
  { subscription: paid }: BraintreeTransaction,
  subscription: Subscription,
  { isChangePaid }: { readonly isChangePaid: boolean },
): boolean {
  const { price, addOns, discounts, billingPeriodStartDate: start = '', billingPeriodEndDate: end } = subscription;
  const isLater = paid?.billingPeriodEndDate !== undefined && start > paid.billingPeriodEndDate;
  const isFree = price !== undefined && toMicros(price) + sumAdjustments(addOns) <= sumAdjustments(discounts);
  return isLater && getLastPaidDay(subscription) === end && (isFree || isChangePaid);
}

/** The charge can be some seconds earlier than the entry of the new price. */
const maxHistoryDelayMs = minuteMs;

/**
 * Returns the price of a whole period if the payment is another amount: the amount of a proration, or one that the
 * balance of a proration has changed.
 */
export function findPlanPrice(
  { payment, isProration }: SubscriptionPayment,
  { statusHistory }: Subscription,
): PlanPrice | undefined {
  const { billingPeriodStartDate: first, billingPeriodEndDate: last } = payment.subscription ?? {};
  const priced = statusHistory.filter(({ price }) => price !== undefined);
  const price = findEntryAt(Date.parse(payment.createdAt) + maxHistoryDelayMs, priced)?.price;
  if (price === undefined || first === undefined || last === undefined) return undefined;
  const amountMicros = toMicros(price) + sumAdjustments(payment.addOns) - sumAdjustments(payment.discounts);
  if (!isProration && amountMicros === toMicros(payment.amount)) return undefined;
  return { amountMicros: Math.max(0, amountMicros), period: toPeriodLength(first, last) };
}

/**
 * Finds the plan that a subscription had at a time. The plan of a payment is the current one of its subscription, so
 * only the history has it.
 * @see https://github.com/braintree/braintree-web/issues/254
 */
export function findPlanAt(createdAt: string, { statusHistory }: Subscription): string | undefined {
  const planned = statusHistory.filter(({ planId }) => planId !== undefined);
  return (findEntryAt(Date.parse(createdAt) + maxHistoryDelayMs, planned) ?? planned.at(-1))?.planId;
}

/** Finds the entry of a history that was the latest at a time. */
const findEntryAt = (at: EpochMillis, history: Subscription['statusHistory']) =>
  history.find(({ timestamp = '' }) => Date.parse(timestamp) <= at);

const sumAdjustments = (adjustments: BraintreeTransaction['addOns']): number =>
  adjustments.reduce((sum, { amount = '0', quantity = 1 }) => sum + toMicros(amount) * quantity, 0);

/** Returns the length of a billing period, which ends on the day before the next one: whole months, or days. */
function toPeriodLength(first: string, last: string): string {
  const next = addDays(last, 1);
  const [[year, month, day], [nextYear, nextMonth, nextDay]] = [first, next].map((text) =>
    text.split('-').map(Number),
  ) as [[number, number, number], [number, number, number]];
  const months = (nextYear - year) * 12 + nextMonth - month;
  const isLastDay = addDays(next, 1).endsWith('-01');
  const isWholeMonths = months > 0 && (day === nextDay || (nextDay < day && isLastDay));
  return isWholeMonths ? `P${months}M` : `P${countDaysBetween(first, next)}D`;
}
