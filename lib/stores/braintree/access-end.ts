import { addDays } from '../../foundation/calendar.ts';
import { dayMs, type EpochMillis } from '../../foundation/time.ts';
import { getDayEnd } from './gateway-day.ts';
import type { MappingContext } from './mapping-context.ts';
import type { PaidTime, Subscription } from './payloads.ts';
import { getStatusDate } from './payment-reversals.ts';

/** An expired subscription does not give access, even if it expired in its trial. */
export function getAccessEnd(subscription: Subscription, context: MappingContext): EpochMillis {
  const end = getPaidUntil(subscription, context) + getExtraTime(subscription, context);
  return subscription.status === 'Expired' ? Math.min(end, getStatusDate(subscription)) : end;
}

/** Returns the end of the last paid day. The last day of a trial is the day before the first payment. */
export const getPaidUntil = (subscription: Subscription, { timeZone }: Pick<MappingContext, 'timeZone'>): EpochMillis =>
  getDayEnd(getLastPaidDay(subscription) ?? addDays(subscription.firstBillingDate, -1), timeZone);

/** Returns the time of access after the last paid day. Braintree bills at an unknown hour of the day that follows. */
function getExtraTime(subscription: Subscription, { graceMs }: MappingContext): number {
  if (subscription.status === 'Past Due') return graceMs;
  return subscription.status === 'Active' && willRenew(subscription) ? dayMs : 0;
}

export function willRenew({
  status,
  neverExpires,
  currentBillingCycle = 0,
  numberOfBillingCycles = 0,
}: Subscription): boolean {
  const isRunning = status === 'Active' || status === 'Past Due' || status === 'Pending';
  return isRunning && (neverExpires === true || currentBillingCycle < numberOfBillingCycles);
}

/**
 * Returns the last paid day. Braintree moves `paidThroughDate` with a successful transaction. A period that a discount
 * or the balance covers lacks one. It counts as paid, unless it was past due. A trial lacks a paid day.
 *
 * @see https://developer.paypal.com/braintree/graphql/reference/types/recurring-billing-subscription-timeline
 * @see https://developer.paypal.com/braintree/docs/reference/general/webhooks/subscription/node
 */
export function getLastPaidDay(subscription: PaidTime): string | undefined {
  const { paidThroughDate = '', billingPeriodEndDate = '' } = subscription;
  const isCovered = !isInTrial(subscription) && getRunningStatus(subscription) === 'Active';
  return (isCovered && billingPeriodEndDate > paidThroughDate ? billingPeriodEndDate : paidThroughDate) || undefined;
}

/** `trialPeriod` stays after the trial. */
export const isInTrial = ({ trialPeriod, currentBillingCycle = 0 }: PaidTime): boolean =>
  trialPeriod === true && currentBillingCycle === 0;

const endStatuses: readonly string[] = ['Canceled', 'Expired'];

/** Returns the status, or the one before the end of an ended subscription. */
export const getRunningStatus = ({
  status,
  statusHistory,
}: Pick<PaidTime, 'status' | 'statusHistory'>): string | undefined =>
  endStatuses.includes(status) ? statusHistory.find((entry) => !endStatuses.includes(entry.status))?.status : status;
