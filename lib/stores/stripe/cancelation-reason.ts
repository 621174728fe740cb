import type { CancelationReason } from '../../api/schemas.ts';
import type { Subscription } from './payloads.ts';
import type { PaymentReversal } from './payment-reversals.ts';

const reasonsByDetail: Readonly<Record<string, CancelationReason>> = {
  payment_failed: 'System.BillingError',
  payment_disputed: 'System',
  canceled_by_retention_policy: 'System',
};

const reasonsByFeedback: Readonly<Record<string, CancelationReason>> = {
  too_expensive: 'Customer.Cost',
  switched_service: 'Customer.FoundBetterApp',
  unused: 'Customer.NotUsefulEnough',
  missing_features: 'Customer.NotUsefulEnough',
  low_quality: 'Customer.TechnicalIssues',
  too_complex: 'Customer.TechnicalIssues',
  customer_service: 'Customer.OtherReason',
  other: 'Customer.OtherReason',
};

interface AccessFacts {
  readonly reversal: PaymentReversal | undefined;
  /** The item was removed from the subscription. */
  readonly isRemoved: boolean;
  readonly isUnpaid: boolean;
  /** Access, with the grace of unpaid time, is over. */
  readonly isExpired: boolean;
}

/**
 * Returns why a subscription does not grant access. Returns undefined while it does, because clients treat any reason
 * as the end of the subscription.
 *
 * @see https://docs.stripe.com/api/subscriptions/object
 */
export function toCancelationReason(
  { status, cancellation_details: details }: Subscription,
  { reversal, isRemoved, isUnpaid, isExpired }: AccessFacts,
): CancelationReason | undefined {
  if (reversal) return reversal.kind === 'refund' ? 'Customer' : 'System';
  if (isRemoved) return isExpired ? 'Unknown' : undefined;
  switch (status) {
    case 'canceled':
      return toCanceledReason(details);
    case 'incomplete_expired':
      return 'System.BillingError';
    case 'paused':
      return 'PAUSED';
    default:
      return isUnpaid && isExpired ? 'System.BillingError' : undefined;
  }
}

function toCanceledReason(details: Subscription['cancellation_details']): CancelationReason {
  const systemReason = reasonsByDetail[details?.reason ?? ''];
  if (systemReason) return systemReason;
  if (details?.reason !== 'cancellation_requested') return 'Unknown';
  return reasonsByFeedback[details.feedback ?? ''] ?? 'Customer';
}
