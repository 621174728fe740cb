import type { EpochMillis } from '../shared/time.ts';
import { isActive, isExpired, type Purchase } from './purchase.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Stores are asked about a renewal shortly after its date, when they know what became of it. */
const renewalDelayMs = 5 * second;
/** A subscription that is running is looked at this often, as a notification can be lost; store_c sends none. */
const getActiveIntervalMs = ({ platform }: Purchase): number => (platform === 'store_c' ? day : 3 * day);
/** How long after its date a subscription that should have renewed is still asked for: the longest that a store retries. */
const billingRetryWindowMs = 60 * day;
/** A look that failed is repeated this often even when no other one is planned; before that the clock decides. */
const maxUnscheduledRetries = 8;

interface RefreshInput {
  readonly now: EpochMillis;
  /** Whether there is a refresh token: without one only the clock can be looked at. */
  readonly refreshable: boolean;
  /** Refreshes that failed since the last one that did not. */
  readonly failures: number;
}

/** When the purchase is to be looked at next, or undefined when nothing more can happen to it by itself. */
export function computeNextRefresh(purchase: Purchase, looking: RefreshInput): EpochMillis | undefined {
  const { now, refreshable, failures } = looking;
  if (purchase.endedAt !== undefined && purchase.endedAt <= now) return undefined;
  const scheduledAt = refreshable ? computeStoreCheck(purchase, now) : computeExpiryCheck(purchase, now);
  if (failures === 0) return scheduledAt;
  const retryAt = now + Math.min(6 * hour, minute * 2 ** (failures - 1));
  if (scheduledAt === undefined) return refreshable && failures <= maxUnscheduledRetries ? retryAt : undefined;
  return Math.max(scheduledAt, retryAt);
}

/** Without a refresh token only the expiry itself remains to be announced. */
const computeExpiryCheck = ({ expirationDate }: Purchase, now: EpochMillis): EpochMillis | undefined =>
  expirationDate !== undefined && expirationDate > now ? expirationDate : undefined;

function computeStoreCheck(purchase: Purchase, now: EpochMillis): EpochMillis | undefined {
  const { expirationDate, autoResumeDate } = purchase;
  if (purchase.isPaused) return computeResumeCheck(autoResumeDate, now);
  if (purchase.isPending) return now + hour;
  if (expirationDate === undefined) return undefined;
  if (isActive(purchase, now)) return Math.min(expirationDate + renewalDelayMs, now + getActiveIntervalMs(purchase));
  return isExpired(purchase, now) && mayRenew(purchase) ? computeRetryCheck(expirationDate, now) : undefined;
}

/** Just after the date, and less and less often when the store says after it that the pause goes on. */
function computeResumeCheck(date: EpochMillis | undefined, now: EpochMillis): EpochMillis {
  if (date !== undefined && date + renewalDelayMs <= now) return computeRetryCheck(date, now) ?? now + day;
  return Math.min((date ?? now + day) + renewalDelayMs, now + day);
}

/** A lapsed subscription comes back by a purchase, not by itself. */
const mayRenew = ({ renewalIntent, isBillingRetryPeriod }: Purchase): boolean =>
  renewalIntent === 'Renew' || isBillingRetryPeriod === true;

/** Again after half of the time that has passed since, from a minute to a day. */
function computeRetryCheck(expirationDate: EpochMillis, now: EpochMillis): EpochMillis | undefined {
  const since = now - expirationDate;
  return since > billingRetryWindowMs ? undefined : now + Math.min(day, Math.max(minute, since / 2));
}
