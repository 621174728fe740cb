import type { Observation } from '../../purchases/observation.ts';
import { prefixed } from '../../purchases/platform.ts';
import type { CancelationReason, Millis, Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../transactions/transaction.ts';
import type { PaidTransaction, Subscription } from './objects.ts';
import { microsOf } from './order.ts';
import { day, type Origin } from './origin.ts';
import { isTaken, takenBackAt } from './taken-back.ts';
import { paymentRecord } from './transaction.ts';

const own = (id: string): string => prefixed('processor_b', id);

/** One look at a subscription; `refunds` are those of its payments. */
export function subscriptionObservation(
  subscription: Subscription,
  refunds: readonly PaidTransaction[],
  origin: Origin,
): Observation {
  const payments = subscription.transactions
    .filter((one) => isTaken(one) || takenBackAt(one, refunds) !== undefined)
    .sort((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt));
  const [newest] = payments;
  const records = payments.map((one) => paymentRecord(one, refunds, { origin, purchaseId: subscription.id }));
  const endedAt = newest && takenBackAt(newest, refunds);
  return {
    asOf: origin.at,
    purchase: {
      purchaseId: own(subscription.id),
      transactionId: own(newest?.id ?? subscription.id),
      productId: own(origin.productId),
      platform: 'processor_b',
      productType: 'paid subscription',
      sandbox: origin.sandbox,
      ...periodOf(subscription, origin),
      ...intentOf(subscription, endedAt),
      ...(subscription.discounts[0]?.id && { discountId: subscription.discounts[0].id }),
      ...(newest && { currency: newest.currencyIsoCode, amountMicros: microsOf(newest.amount) }),
    },
    transactions: [...records, ...trialRecord(subscription, origin)],
    userTokens: [origin.customerId],
    refreshToken: { subscription: subscription.id, productId: origin.productId, customerId: origin.customerId },
  };
}

function periodOf(subscription: Subscription, { at, graceMs }: Origin) {
  const { status, trialPeriod, billingPeriodStartDate } = subscription;
  const firstBillingDate = Date.parse(subscription.firstBillingDate);
  const start = billingPeriodStartDate === undefined ? undefined : Date.parse(billingPeriodStartDate);
  const isPastDue = status === 'Past Due';
  return {
    purchaseDate: trialPeriod ? Date.parse(subscription.createdAt) : firstBillingDate,
    ...(start !== undefined && start > firstBillingDate && { lastRenewalDate: start }),
    expirationDate: paidUntil(subscription) + (isPastDue ? graceMs : 0),
    ...(isPastDue && { isBillingRetryPeriod: true }),
    ...(status === 'Pending' && !trialPeriod && { isPending: true }),
    ...(trialPeriod && firstBillingDate > at && { isTrialPeriod: true }),
  };
}

/** The end of the last day that is paid for; of a trial, the end of the day of the first payment. */
function paidUntil({ paidThroughDate, firstBillingDate }: Subscription): Millis {
  return Date.parse(paidThroughDate ?? firstBillingDate) + day;
}

function intentOf(
  subscription: Subscription,
  endedAt: Millis | undefined,
): Pick<Purchase, 'renewalIntent' | 'cancelationReason' | 'endedAt'> {
  const { status, neverExpires, currentBillingCycle = 0, numberOfBillingCycles = 0, statusHistory } = subscription;
  const isRunning = status === 'Active' || status === 'Past Due' || status === 'Pending';
  const renews = isRunning && (neverExpires === true || currentBillingCycle < numberOfBillingCycles);
  const canceled = statusHistory.find((entry) => entry.status === 'Canceled');
  const reason = endedAt === undefined ? reasonOf(subscription) : 'Customer';
  return {
    renewalIntent: renews ? 'Renew' : 'Lapse',
    ...(status === 'Canceled' && canceled && { renewalIntentChangeDate: Date.parse(canceled.timestamp) }),
    ...(reason && { cancelationReason: reason }),
    ...(endedAt !== undefined && { endedAt }),
  };
}

function reasonOf({ status, statusHistory }: Subscription): CancelationReason | undefined {
  if (status !== 'Canceled') return undefined;
  const before = [...statusHistory]
    .sort((a, b) => Date.parse(b.timestamp) - Date.parse(a.timestamp))
    .find((entry) => entry.status !== 'Canceled');
  return before?.status === 'Past Due' ? 'System.BillingError' : 'Customer';
}

function trialRecord(subscription: Subscription, origin: Origin): Transaction[] {
  if (!subscription.trialPeriod) return [];
  return [
    {
      transactionId: own(subscription.id),
      purchaseId: own(subscription.id),
      productId: own(origin.productId),
      platform: 'processor_b',
      sandbox: origin.sandbox,
      purchaseDate: Date.parse(subscription.createdAt),
      expirationDate: Date.parse(subscription.firstBillingDate) + day,
      isTrialPeriod: true,
      amountMicros: 0,
    },
  ];
}
