import { dayMs, type EpochMillis } from '../../shared/time.ts';
import type { TransactionGroup } from './group-by-purchase.ts';

/**
 * Maximum time in which Apple retries a failed payment. After that, a subscription has ended or was bought again.
 * @see https://developer.apple.com/documentation/storekit/reducing-involuntary-subscriber-churn
 */
const billingRetryWindowMs = 60 * dayMs;

/** Whether the evidence alone proves the current state of all purchases. */
export const isEvidenceCurrent = (groups: readonly TransactionGroup[], now: EpochMillis): boolean =>
  !groups.some((group) => mayHaveRenewed(group, now));

/** Whether a subscription ended so recently that it may have been renewed since. */
function mayHaveRenewed({ latest }: TransactionGroup, now: EpochMillis): boolean {
  const { expiresDate, revokedAt = expiresDate, replacedAt = expiresDate } = latest;
  if (expiresDate === undefined || revokedAt === undefined || replacedAt === undefined) return false;
  const end = Math.min(expiresDate, revokedAt, replacedAt);
  return end <= now && now - end < billingRetryWindowMs;
}
