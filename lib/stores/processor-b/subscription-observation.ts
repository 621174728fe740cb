import type { CancelationReason } from '../../api/enumerations.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import { withPlatform } from '../../shared/platform.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { dayMs, type MappingContext } from './mapping-context.ts';
import { toMicros } from './order.ts';
import type { BraintreeTransaction, Subscription } from './payloads.ts';
import { toTransaction } from './payment-observation.ts';
import { findReversalDate, isPaid } from './payment-reversals.ts';

const toPurchaseId = (id: string): string => withPlatform('processor_b', id);

/** One look at a subscription; `refunds` are those of its payments. */
export function toSubscriptionObservation(
  subscription: Subscription,
  refunds: readonly BraintreeTransaction[],
  context: MappingContext,
): Observation {
  const payments = subscription.transactions
    .filter((one) => isPaid(one) || findReversalDate(one, refunds) !== undefined)
    .sort((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt));
  const [newest] = payments;
  const records = payments.map((one) => toTransaction(one, refunds, { origin: context, purchaseId: subscription.id }));
  const endedAt = newest && findReversalDate(newest, refunds);
  return {
    asOf: context.at,
    purchase: {
      purchaseId: toPurchaseId(subscription.id),
      transactionId: toPurchaseId(newest?.id ?? subscription.id),
      productId: toPurchaseId(context.productId),
      platform: 'processor_b',
      productType: 'paid subscription',
      sandbox: context.sandbox,
      ...toPeriod(subscription, context),
      ...toRenewalIntent(subscription, endedAt),
      ...(subscription.discounts[0]?.id && { discountId: subscription.discounts[0].id }),
      ...(newest && { currency: newest.currencyIsoCode, amountMicros: toMicros(newest.amount) }),
    },
    transactions: [...records, ...toTrialTransaction(subscription, context)],
    userAliases: [context.customerId],
    refreshToken: { subscription: subscription.id, productId: context.productId, customerId: context.customerId },
  };
}

function toPeriod(subscription: Subscription, { at, graceMs }: MappingContext) {
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
    ...(trialPeriod && firstBillingDate > at && { isTrialPeriod: true }),
  };
}

/** The end of the last day that is paid for; of a trial, the end of the day of the first payment. */
function getPaidThrough({ paidThroughDate, firstBillingDate }: Subscription): EpochMillis {
  return Date.parse(paidThroughDate ?? firstBillingDate) + dayMs;
}

function toRenewalIntent(
  subscription: Subscription,
  endedAt: EpochMillis | undefined,
): Pick<Purchase, 'renewalIntent' | 'cancelationReason' | 'endedAt'> {
  const { status, neverExpires, currentBillingCycle = 0, numberOfBillingCycles = 0, statusHistory } = subscription;
  const isRunning = status === 'Active' || status === 'Past Due' || status === 'Pending';
  const renews = isRunning && (neverExpires === true || currentBillingCycle < numberOfBillingCycles);
  const canceled = statusHistory.find((entry) => entry.status === 'Canceled');
  const reason = endedAt === undefined ? toCancelationReason(subscription) : 'Customer';
  return {
    renewalIntent: renews ? 'Renew' : 'Lapse',
    ...(status === 'Canceled' && canceled && { renewalIntentChangeDate: Date.parse(canceled.timestamp) }),
    ...(reason && { cancelationReason: reason }),
    ...(endedAt !== undefined && { endedAt }),
  };
}

function toCancelationReason({ status, statusHistory }: Subscription): CancelationReason | undefined {
  if (status !== 'Canceled') return undefined;
  const before = [...statusHistory]
    .sort((a, b) => Date.parse(b.timestamp) - Date.parse(a.timestamp))
    .find((entry) => entry.status !== 'Canceled');
  return before?.status === 'Past Due' ? 'System.BillingError' : 'Customer';
}

function toTrialTransaction(subscription: Subscription, context: MappingContext): Transaction[] {
  if (!subscription.trialPeriod) return [];
  return [
    {
      transactionId: toPurchaseId(subscription.id),
      purchaseId: toPurchaseId(subscription.id),
      productId: toPurchaseId(context.productId),
      platform: 'processor_b',
      sandbox: context.sandbox,
      purchaseDate: Date.parse(subscription.createdAt),
      expirationDate: Date.parse(subscription.firstBillingDate) + dayMs,
      isTrialPeriod: true,
      amountMicros: 0,
    },
  ];
}
