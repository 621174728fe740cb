import type { CancelationReason } from '../../api/schemas.ts';
import { addDays } from '../../foundation/calendar.ts';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { platformTokens } from '../../foundation/platform.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { toPeriodStart } from '../to-period-start.ts';
import { getAccessEnd, getLastPaidDay, getPaidUntil, getRunningStatus, isInTrial, willRenew } from './access-end.ts';
import { maxEmbeddedPayments } from './earlier-payments.ts';
import { getDayEnd } from './gateway-day.ts';
import { type MappingContext, toTokenMembers } from './mapping-context.ts';
import { toMicros } from './money.ts';
import type { BraintreeTransaction, Subscription } from './payloads.ts';
import { toPrefixedId, toReversalReason, toTransaction } from './payment-observation.ts';
import { findReversals, getStatusDate, isPaid, isSettlementPending } from './payment-reversals.ts';
import {
  findPlanAt,
  findPlanPrice,
  isPaidWithoutPayment,
  markProrations,
  markUnpaidPeriod,
  type SubscriptionPayment,
} from './subscription-payments.ts';

/** Maps a subscription to an observation. `refunds` contains the refunds of its payments. */
export function toSubscriptionObservation(
  reported: Subscription,
  refunds: readonly BraintreeTransaction[],
  context: MappingContext,
): Observation {
  const subscription = markUnpaidPeriod(reported);
  const productId = findPlanProduct(subscription.planId, context);
  const payments = subscription.transactions
    .filter(({ type }) => type === 'sale')
    .filter((payment) => isPaid(payment) || findReversals(payment, refunds).refundedAt !== undefined)
    .sort((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt));
  const marked = markProrations(payments, subscription);
  const periodPayments = marked.filter(({ isProration }) => !isProration).map(({ payment }) => payment);
  const [latest] = periodPayments;
  const paidUntil = getPaidUntil(subscription, context);
  const transactions = marked.map(({ payment, isProration }) => ({
    ...toTransaction(payment, refunds, { context, purchaseId: subscription.id }),
    productId: toPastProductId(payment, subscription, context),
    ...toPaidPeriod({ payment, isProration }, payment === latest ? paidUntil : undefined, context),
    ...omitUndefined({ plan: findPlanPrice({ payment, isProration }, subscription) }),
  }));
  const changes = marked.slice(
    0,
    marked.findIndex(({ payment }) => payment === latest),
  );
  const isChangePaid = changes.some(({ payment }) => findReversals(payment, refunds).refundedAt === undefined);
  const endedAt =
    latest && !isPaidWithoutPayment(latest, subscription, { isChangePaid })
      ? findReversals(latest, refunds).refundedAt
      : undefined;
  const isExpired = getAccessEnd(subscription, context) <= context.asOf;
  const cancelationReason =
    latest && endedAt !== undefined
      ? toReversalReason(latest, { refundedAt: endedAt, refunds })
      : toCancelationReason(subscription, isExpired);
  return {
    asOf: context.asOf,
    purchase: {
      purchaseId: toPrefixedId(subscription.id),
      transactionId: toPrefixedId(latest?.id ?? subscription.id),
      productId: toPrefixedId(productId),
      platform: platformTokens.braintree,
      productType: 'paid subscription',
      sandbox: context.sandbox,
      ...toPeriod(subscription, periodPayments, context),
      ...toFirstPaymentState(subscription, payments),
      ...toRenewalIntent(subscription),
      ...omitUndefined({ cancelationReason, endedAt }),
      ...(subscription.discounts[0]?.id && { discountId: subscription.discounts[0].id }),
      ...(latest && {
        ...omitUndefined({ currency: latest.currencyIsoCode }),
        amountMicros: toMicros(latest.amount),
      }),
    },
    transactions: [...transactions, ...toTrialTransaction(subscription, context)],
    userAliases: [],
    refreshToken: { subscription: subscription.id, ...toTokenMembers({ ...context, productId }) },
  };
}

/** Returns the product that a subscription had when it or its payment was created. */
const toPastProductId = (
  { createdAt }: { readonly createdAt: string },
  subscription: Subscription,
  context: MappingContext,
): string => toPrefixedId(findPlanProduct(findPlanAt(createdAt, subscription), context));

/** `payments` contains the paid payments that started a period, the latest first. */
function toPeriod(
  subscription: Subscription,
  payments: readonly BraintreeTransaction[],
  context: MappingContext,
): Partial<Purchase> {
  const { status, trialPeriod } = subscription;
  const [latest] = payments;
  const freeStart = trialPeriod ? undefined : findFreeStart(subscription, payments, context);
  const first = trialPeriod || freeStart !== undefined ? undefined : payments.at(-1);
  const isPastDue = status === 'Past Due';
  // The purchase date is the date of the first payment: an earlier one would make that payment a renewal.
  const started = first ?? (trialPeriod ? subscription : undefined);
  const purchaseDate = freeStart ?? (started && Date.parse(started.createdAt));
  return {
    ...omitUndefined({ purchaseDate }),
    ...(latest && latest !== first && { lastRenewalDate: Date.parse(latest.createdAt) }),
    expirationDate: getAccessEnd(subscription, context),
    ...(isPastDue && { isBillingRetryPeriod: true }),
    ...(isInTrial(subscription) && !latest && !isPastDue && { isTrialPeriod: true }),
  };
}

/**
 * Returns the start of a subscription whose first period lacks a payment because of a discount. Undefined if it starts
 * with a payment, or has not started.
 */
function findFreeStart(
  subscription: Subscription,
  payments: readonly BraintreeTransaction[],
  { timeZone }: MappingContext,
): EpochMillis | undefined {
  const { status, createdAt, firstBillingDate, transactions } = subscription;
  if (status === 'Pending' || getLastPaidDay(subscription) === undefined || transactions.some(isSettlementPending))
    return undefined;
  const firstPeriod = payments.at(-1)?.subscription?.billingPeriodStartDate;
  const hasFirstPayment = payments.length > 0 && (firstPeriod === undefined || firstPeriod <= firstBillingDate);
  // Braintree returns the latest payments of a subscription only: a long list can lack the first one.
  if (hasFirstPayment || transactions.length >= maxEmbeddedPayments) return undefined;
  return Math.max(Date.parse(createdAt), getDayEnd(addDays(firstBillingDate, -1), timeZone));
}

/**
 * Returns the period that a payment is for. `fallback` is its end if Braintree does not return the period.
 * @see https://developer.paypal.com/braintree/docs/reference/response/transaction/node#subscription_details
 */
function toPaidPeriod(
  { payment: { subscription, createdAt }, isProration }: SubscriptionPayment,
  fallback: EpochMillis | undefined,
  { timeZone }: MappingContext,
): Pick<Transaction, 'periodStartDate' | 'expirationDate' | 'isRenewal'> {
  const { billingPeriodStartDate: firstDay, billingPeriodEndDate: lastDay } = subscription ?? {};
  if (lastDay === undefined) return omitUndefined({ expirationDate: fallback });
  if (isProration) return { expirationDate: getDayEnd(lastDay, timeZone), isRenewal: false };
  const start = firstDay === undefined ? undefined : getDayEnd(addDays(firstDay, -1), timeZone);
  return {
    expirationDate: getDayEnd(lastDay, timeZone),
    ...omitUndefined({ periodStartDate: toPeriodStart(start, Date.parse(createdAt)) }),
  };
}

/**
 * Maps the state of a first payment that is missing: pending, or never made before the subscription ended. A first
 * payment can fail later than the subscription was created: a debit days later, which can leave it active, or the
 * payment on a later first billing date.
 *
 * @see https://developer.paypal.com/braintree/docs/guides/recurring-billing/overview/
 * @see https://developer.paypal.com/braintree/docs/reference/general/statuses
 */
function toFirstPaymentState(subscription: Subscription, payments: readonly BraintreeTransaction[]): Partial<Purchase> {
  const { status, trialPeriod, transactions, firstBillingDate } = subscription;
  const paidDay = transactions.length === 0 ? getLastPaidDay(subscription) : subscription.paidThroughDate;
  if (trialPeriod) return {};
  if (status === 'Pending') return { isPending: true };
  if (payments.length > 0) return {};
  if (transactions.some(isSettlementPending)) return { isPending: true };
  const failed = transactions.find(({ type, subscription: period }) => {
    const start = period?.billingPeriodStartDate;
    return type === 'sale' && start !== undefined && start <= firstBillingDate;
  });
  if (failed && status === 'Past Due') return { isPending: true };
  if (failed && status === 'Active') return { isAbandoned: true, expirationDate: getStatusDate(failed) };
  if ((status !== 'Canceled' && status !== 'Expired') || paidDay !== undefined) return {};
  return { isAbandoned: true, expirationDate: getStatusDate(subscription) };
}

function toRenewalIntent(subscription: Subscription): Pick<Purchase, 'renewalIntent' | 'renewalIntentChangeDate'> {
  const { status, statusHistory } = subscription;
  const canceled = statusHistory.find((entry) => entry.status === 'Canceled');
  return {
    renewalIntent: willRenew(subscription) ? 'Renew' : 'Lapse',
    ...(status === 'Canceled' &&
      canceled?.timestamp !== undefined && { renewalIntentChangeDate: Date.parse(canceled.timestamp) }),
  };
}

/** A payment that is past due is a reason only when its grace period is over. */
function toCancelationReason(
  { status, statusHistory }: Subscription,
  isExpired: boolean,
): CancelationReason | undefined {
  if (status === 'Past Due' && isExpired) return 'System.BillingError';
  if (status !== 'Canceled') return undefined;
  return getRunningStatus({ status, statusHistory }) === 'Past Due' ? 'System.BillingError' : 'Customer';
}

function toTrialTransaction(subscription: Subscription, context: MappingContext): Transaction[] {
  if (!subscription.trialPeriod) return [];
  return [
    {
      transactionId: toPrefixedId(subscription.id),
      purchaseId: toPrefixedId(subscription.id),
      productId: toPastProductId(subscription, subscription, context),
      platform: platformTokens.braintree,
      sandbox: context.sandbox,
      purchaseDate: Date.parse(subscription.createdAt),
      expirationDate: getDayEnd(addDays(subscription.firstBillingDate, -1), context.timeZone),
      isTrialPeriod: true,
      offerType: 'trial',
      ...toTrialLength(subscription),
      amountMicros: 0,
    },
  ];
}

const toTrialLength = ({ trialDuration, trialDurationUnit }: Subscription): Pick<Transaction, 'offerPeriod'> =>
  trialDuration && trialDurationUnit
    ? { offerPeriod: `P${trialDuration}${trialDurationUnit === 'day' ? 'D' : 'M'}` }
    : {};

/**
 * Finds the product of a plan. Braintree and its control panel can change the plan of a subscription, without a
 * notification. The product of the purchase stays if the catalogue does not have one other product with the plan.
 * @see https://developer.paypal.com/braintree/docs/reference/request/subscription/update/node
 */
function findPlanProduct(
  planId: string | undefined,
  { productId, planIds = {} }: Pick<MappingContext, 'productId' | 'planIds'>,
): string {
  if (planIds[productId] === planId) return productId;
  const [product = productId, ...others] = Object.keys(planIds).filter((id) => planIds[id] === planId);
  return others.length === 0 ? product : productId;
}
