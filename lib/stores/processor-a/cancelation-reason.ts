import type { Purchase } from '../../purchases/purchase.ts';
import type { Subscription } from './payloads.ts';
import type { PaymentReversal } from './payment-reversals.ts';

type Reason = NonNullable<Purchase['cancelationReason']>;

const reasonsByDetail: Readonly<Record<string, Reason>> = {
  payment_failed: 'System.BillingError',
  payment_disputed: 'System',
  canceled_by_retention_policy: 'System',
};

const reasonsByFeedback: Readonly<Record<string, Reason>> = {
  too_expensive: 'Customer.Cost',
  switched_service: 'Customer.FoundBetterApp',
  unused: 'Customer.NotUsefulEnough',
  missing_features: 'Customer.NotUsefulEnough',
  low_quality: 'Customer.TechnicalIssues',
  too_complex: 'Customer.TechnicalIssues',
  customer_service: 'Customer.OtherReason',
  other: 'Customer.OtherReason',
};

/** Why a subscription gives no access any more; none while it does, as clients take any reason for the end. */
export function toCancelationReason(
  { status, cancellation_details: details, pause_collection }: Subscription,
  takeback: PaymentReversal | undefined,
): Reason | undefined {
  if (takeback) return takeback.kind === 'refund' ? 'Customer' : 'System';
  switch (status) {
    case 'canceled':
      return toCanceledReason(details);
    case 'unpaid':
    case 'incomplete_expired':
      return 'System.BillingError';
    default:
      return status === 'paused' || pause_collection !== null ? 'PAUSED' : undefined;
  }
}

function toCanceledReason(details: Subscription['cancellation_details']): Reason {
  const known = reasonsByDetail[details?.reason ?? ''];
  if (known) return known;
  if (details?.reason !== 'cancellation_requested') return 'Unknown';
  return reasonsByFeedback[details.feedback ?? ''] ?? 'Customer';
}
