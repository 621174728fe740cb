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

/** Reasons by the initiator, for an order that was voided for another reason. */
const reasonsByVoidedSource: Readonly<Record<number, CancelationReason>> = {
  0: 'Customer.OtherReason',
  1: 'Developer',
};

/** Why an order was voided, and by whom. */
export interface VoidCause {
  readonly voidedReason?: number | undefined;
  readonly voidedSource?: number | undefined;
}

/** Returns the reason of a voided order. Undefined if its cause is unknown. */
export const toVoidReason = ({ voidedReason = -1, voidedSource = -1 }: VoidCause = {}): CancelationReason | undefined =>
  reasonsByVoidedReason[voidedReason] ?? reasonsByVoidedSource[voidedSource];
