import type { CancelationReason } from '../../api/enumerations.ts';
import type { Observation } from '../../purchases/observation.ts';
import { isExpired } from '../../purchases/purchase.ts';
import type { EpochMillis } from '../../shared/time.ts';

/** A purchase that Google took away, dated by Google; one that goes on is left as it is. */
export function withEndDate(observation: Observation, at: EpochMillis, now: EpochMillis): Observation {
  const { purchase } = observation;
  if (purchase.endedAt !== undefined || purchase.isPaused || !isExpired(purchase, now)) return observation;
  return { ...observation, purchase: { ...purchase, endedAt: Math.min(purchase.expirationDate ?? at, at) } };
}

/** Why Google gave money back, by its number. */
const reasonsByVoidedReason: Readonly<Record<number, CancelationReason>> = {
  1: 'Customer.OtherReason',
  3: 'Customer.TechnicalIssues',
  4: 'Customer.OtherReason',
  5: 'System',
  6: 'System',
  7: 'Customer',
  8: 'System',
};

/** The purchase with the reason of its end, where its own state says no more than that it ended. */
export function withCancelationReason(observation: Observation, voidedReason: number | undefined): Observation {
  const { purchase } = observation;
  const reason = reasonsByVoidedReason[voidedReason ?? -1];
  return reason && lacksCancelationReason(observation)
    ? { ...observation, purchase: { ...purchase, cancelationReason: reason } }
    : observation;
}

/** Whether the purchase has ended and its own state does not say why. */
export const lacksCancelationReason = ({ purchase: { endedAt, cancelationReason } }: Observation): boolean =>
  endedAt !== undefined && (cancelationReason === 'Unknown' || cancelationReason === 'System');
