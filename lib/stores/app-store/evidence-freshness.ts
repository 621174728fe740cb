import { dayMs, type EpochMillis } from '../../foundation/time.ts';
import { getAccessEnd } from '../../purchases/purchase.ts';
import type { MappedPurchase } from './requested-purchase.ts';

/**
 * Maximum time in which Apple retries a failed payment, the longest is for a plan with a commitment. After that, a
 * subscription has ended or was bought again.
 * @see https://developer.apple.com/documentation/storekit/reducing-involuntary-subscriber-churn
 */
const billingRetryWindowMs = 90 * dayMs;

/** The evidence or the table has the current state of all purchases. */
export const isEveryPurchaseCurrent = (purchases: readonly MappedPurchase[], now: EpochMillis): boolean =>
  !purchases.some((purchase) => mayHaveRenewed(purchase, now));

/** A subscription ended so recently that it may have been renewed since. */
function mayHaveRenewed({ group, current }: MappedPurchase, now: EpochMillis): boolean {
  if (group.latest.expiresDate === undefined) return false;
  const end = getAccessEnd(current);
  return end <= now && now - end < billingRetryWindowMs;
}
