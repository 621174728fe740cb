import type { CancelationReason } from '../../api/schemas.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { Observation } from '../../purchases/observation.ts';
import { isExpired } from '../../purchases/purchase.ts';

/** Sets the time at which Google Play revoked the purchase. Does not change a purchase that is still active. */
export function withEndDate(observation: Observation, revokedAt: EpochMillis, now: EpochMillis): Observation {
  const { purchase } = observation;
  if (purchase.endedAt !== undefined || purchase.isPaused || !isExpired(purchase, now)) return observation;
  const endedAt = Math.min(purchase.expirationDate ?? revokedAt, revokedAt);
  return { ...observation, purchase: { ...purchase, endedAt } };
}

/** @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.voidedpurchases */
const reasonsByVoidedReason: Readonly<Record<number, CancelationReason>> = {
  1: 'Customer.OtherReason',
  3: 'Customer.TechnicalIssues',
  4: 'Customer.OtherReason',
  5: 'System',
  6: 'System',
  // A chargeback is the lost dispute of a processor.
  7: 'System',
  8: 'System',
};

/** Sets the reason of a voided purchase if its own state lacks a specific reason. */
export function withCancelationReason(observation: Observation, voidedReason: number | undefined): Observation {
  const { purchase } = observation;
  const reason = reasonsByVoidedReason[voidedReason ?? -1];
  return reason && lacksCancelationReason(observation)
    ? { ...observation, purchase: { ...purchase, cancelationReason: reason } }
    : observation;
}

/** The purchase has ended without a specific reason. */
export const lacksCancelationReason = ({ purchase: { endedAt, cancelationReason } }: Observation): boolean =>
  endedAt !== undefined && (cancelationReason === 'Unknown' || cancelationReason === 'System');
