import type { CancelationReason } from '../../api/schemas.ts';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { Observation } from '../../purchases/observation.ts';
import { isExpired, type Purchase } from '../../purchases/purchase.ts';

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

/** Sets the reason of a voided purchase if its own state lacks a specific reason. */
export function withCancelationReason(
  observation: Observation,
  { voidedReason = -1, voidedSource = -1 }: VoidCause = {},
): Observation {
  const { purchase } = observation;
  const reason = reasonsByVoidedReason[voidedReason] ?? reasonsByVoidedSource[voidedSource];
  return reason && lacksCancelationReason(observation)
    ? { ...observation, purchase: { ...purchase, cancelationReason: reason } }
    : observation;
}

const voidedReasons: ReadonlySet<CancelationReason | undefined> = new Set(
  [reasonsByVoidedReason, reasonsByVoidedSource].flatMap((reasons) => Object.values(reasons)),
);

/** Keeps the stored reason of a voided purchase, which a query does not show, while the purchase has the same end. */
export function keepVoidedReason(
  { cancelationReason, expirationDate }: Partial<Purchase>,
  stored: Purchase | undefined,
): Pick<Purchase, 'cancelationReason'> {
  const isUnspecific = cancelationReason === 'System' || cancelationReason === 'Unknown';
  const isKept =
    isUnspecific && stored?.expirationDate === expirationDate && voidedReasons.has(stored?.cancelationReason);
  return omitUndefined({ cancelationReason: isKept ? stored?.cancelationReason : cancelationReason });
}

/** The purchase has ended without a specific reason. */
export const lacksCancelationReason = ({ purchase: { endedAt, cancelationReason } }: Observation): boolean =>
  endedAt !== undefined && (cancelationReason === 'Unknown' || cancelationReason === 'System');
