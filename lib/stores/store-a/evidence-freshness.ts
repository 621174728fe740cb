import type { EpochMillis } from '../../shared/time.ts';
import type { TransactionGroup } from './group-by-purchase.ts';

/** Apple retries a failed payment for so long; after it a subscription has ended or was renewed and bought again. */
const billingRetryWindowMs = 60 * 86_400_000;

/** Whether evidence alone tells the present state of all these purchases. */
export const isEvidenceCurrent = (lines: readonly TransactionGroup[], now: EpochMillis): boolean =>
  !lines.some((line) => mayHaveRenewed(line, now));

/** A subscription that ended a short time ago by this evidence may have been renewed since. */
function mayHaveRenewed({ latest }: TransactionGroup, now: EpochMillis): boolean {
  const { expiresDate, revokedAt = expiresDate, replacedAt = expiresDate } = latest;
  if (expiresDate === undefined || revokedAt === undefined || replacedAt === undefined) return false;
  const end = Math.min(expiresDate, revokedAt, replacedAt);
  return end <= now && now - end < billingRetryWindowMs;
}
