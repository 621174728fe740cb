import type { CancelationReason } from '../../api/enumerations.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { dayMs, type EpochMillis } from '../../shared/time.ts';
import { type MappingContext, toTokenMembers } from './mapping-context.ts';
import { toMicros } from './money.ts';
import type { BraintreeTransaction, Subscription } from './payloads.ts';
import { toPrefixedId, toTransaction } from './payment-observation.ts';
import { findReversalDate, isPaid } from './payment-reversals.ts';

/** Maps a subscription to an observation. `refunds` contains the refunds of its payments. */
export function toSubscriptionObservation(
  subscription: Subscription,
  refunds: readonly BraintreeTransaction[],
  context: MappingContext,
): Observation {
  const payments = subscription.transactions
    .filter((payment) => isPaid(payment) || findReversalDate(payment, refunds) !== undefined)
    .sort((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt));
  const [latest] = payments;
  const transactions = payments.map((payment) =>
    toTransaction(payment, refunds, { context, purchaseId: subscription.id }),
  );
  const endedAt = latest && findReversalDate(latest, refunds);
  return {
    asOf: context.asOf,
    purchase: {
      purchaseId: toPrefixedId(subscription.id),
      transactionId: toPrefixedId(latest?.id ?? subscription.id),
      productId: toPrefixedId(context.productId),
      platform: 'processor_b',
      productType: 'paid subscription',
      sandbox: context.sandbox,
      ...toPeriod(subscription, context),
      ...toRenewalIntent(subscription, endedAt),
      ...(subscription.discounts[0]?.id && { discountId: subscription.discounts[0].id }),
      ...(latest && { currency: latest.currencyIsoCode, amountMicros: toMicros(latest.amount) }),
    },
    transactions: [...transactions, ...toTrialTransaction(subscription, context)],
    userAliases: [],
    refreshToken: { subscription: subscription.id, ...toTokenMembers(context) },
  };
}

function toPeriod(subscription: Subscription, { asOf, graceMs }: MappingContext) {
  const { status, trialPeriod, billingPeriodStartDate } = subscription;
  const firstBillingDate = Date.parse(subscription.firstBillingDate);
  const start = billingPeriodStartDate === undefined ? undefined : Date.parse(billingPeriodStartDate);
  const isPastDue = status === 'Past Due';
  return {
    purchaseDate: trialPeriod ? Date.parse(subscription.createdAt) : firstBillingDate,
    ...(start !== undefined && start > firstBillingDate && { lastRenewalDate: start }),
    expirationDate: getPaidThrough(subscription) + (isPastDue ? graceMs : 0),
    ...(isPastDue && { isBillingRetryPeriod: true }),
    ...(status === 'Pending' && !trialPeriod && { isPending: true }),
    ...(trialPeriod && firstBillingDate > asOf && { isTrialPeriod: true }),
  };
}

/** Returns the end of the last paid day. During a trial, that is the day of the first payment. */
function getPaidThrough({ paidThroughDate, firstBillingDate }: Subscription): EpochMillis {
  return Date.parse(paidThroughDate ?? firstBillingDate) + dayMs;
}

function toRenewalIntent(
  subscription: Subscription,
  endedAt: EpochMillis | undefined,
): Pick<Purchase, 'renewalIntent' | 'cancelationReason' | 'endedAt'> {
  const { status, neverExpires, currentBillingCycle = 0, numberOfBillingCycles = 0, statusHistory } = subscription;
  const isRunning = status === 'Active' || status === 'Past Due' || status === 'Pending';
  const willRenew = isRunning && (neverExpires === true || currentBillingCycle < numberOfBillingCycles);
  const canceled = statusHistory.find((entry) => entry.status === 'Canceled');
  const reason = endedAt === undefined ? toCancelationReason(subscription) : 'Customer';
  return {
    renewalIntent: willRenew ? 'Renew' : 'Lapse',
    ...(status === 'Canceled' && canceled && { renewalIntentChangeDate: Date.parse(canceled.timestamp) }),
    ...(reason && { cancelationReason: reason }),
    ...(endedAt !== undefined && { endedAt }),
  };
}

function toCancelationReason({ status, statusHistory }: Subscription): CancelationReason | undefined {
  if (status !== 'Canceled') return undefined;
  const previous = [...statusHistory]
    .sort((a, b) => Date.parse(b.timestamp) - Date.parse(a.timestamp))
    .find((entry) => entry.status !== 'Canceled');
  return previous?.status === 'Past Due' ? 'System.BillingError' : 'Customer';
}

function toTrialTransaction(subscription: Subscription, context: MappingContext): Transaction[] {
  if (!subscription.trialPeriod) return [];
  return [
    {
      transactionId: toPrefixedId(subscription.id),
      purchaseId: toPrefixedId(subscription.id),
      productId: toPrefixedId(context.productId),
      platform: 'processor_b',
      sandbox: context.sandbox,
      purchaseDate: Date.parse(subscription.createdAt),
      expirationDate: Date.parse(subscription.firstBillingDate) + dayMs,
      isTrialPeriod: true,
      amountMicros: 0,
    },
  ];
}
