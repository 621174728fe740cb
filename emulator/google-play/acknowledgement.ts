import { addPeriod, dayMs } from '../calendar.ts';
import { revoke } from './end-subscription.ts';
import type { Transition } from './purchase-transition.ts';
import type { Purchase } from './records.ts';

const acknowledgementMs = 3 * dayMs;
const minPrepaidMs = 7 * dayMs;

/**
 * Returns the time at which Google refunds and revokes the purchase: three days after the payment, half the duration of
 * a prepaid plan of less than a week. Undefined if the purchase is acknowledged, not paid or has ended.
 *
 * @see https://developer.android.com/google/play/billing/integrate#process
 * @see https://developer.android.com/google/play/billing/subscriptions#prepaid-acknowledge
 */
export function getAcknowledgementDeadline(purchase: Purchase): number | undefined {
  const { isAcknowledged, isUnpaid, isCancelled, isDeleted, purchasedAt, subscription } = purchase;
  if (isAcknowledged || isUnpaid || isCancelled || isDeleted || subscription?.state === 'EXPIRED') return undefined;
  const prepaidMs = subscription?.isPrepaid ? addPeriod(0, subscription.anchor.period) : minPrepaidMs;
  return purchasedAt + (prepaidMs < minPrepaidMs ? prepaidMs / 2 : acknowledgementMs);
}

/**
 * Acknowledges a paid purchase whose app does so. Also a purchase that follows from it is acknowledged by the app,
 * unless it was made in the Play Store app, where the app does not run.
 */
export const acknowledgeByApp = (purchase: Purchase, predecessor: Purchase = purchase): Purchase =>
  predecessor.isAcknowledgedByApp && !purchase.isUnpaid && purchase.subscription?.resubscribes === undefined
    ? { ...purchase, isAcknowledgedByApp: true, isAcknowledged: true }
    : purchase;

/** Refunds and revokes a purchase that was not acknowledged in time. */
export function revokeUnacknowledged(purchase: Purchase, at: number): Transition {
  const { voided, ...transition } = revoke(purchase, at);
  return { ...transition, ...(voided && { voided: { ...voided, isUnacknowledged: true } }) };
}
