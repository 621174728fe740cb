import type { IntervalCheck } from '../foundation/keys.ts';
import { platformTokens } from '../foundation/platform.ts';
import { dayMs, type EpochMillis, hourMs, minuteMs, secondMs } from '../foundation/time.ts';
import { getAccessEnd, getReportedEnd, isActive, isExpired, isUnverified, type Purchase } from './purchase.ts';

/** Delay of a refresh after the renewal date, until the store has processed the renewal. */
const renewalDelayMs = 5 * secondMs;

/**
 * Interval of refreshes of an active subscription, because a store notification can be lost. Longer while the store's
 * notifications arrive. The Microsoft Store sends none.
 */
const getActiveIntervalMs = ({ platform }: Purchase, isNotified = false): number => {
  if (platform === platformTokens.microsoftStore) return dayMs;
  return isNotified ? 10 * dayMs : 3 * dayMs;
};

/**
 * Interval of refreshes of a product without an end. Only the Microsoft Store needs them: a device consumes there
 * without a notification.
 */
const getOneTimeIntervalMs = ({ productType }: Purchase): number => (productType === 'consumable' ? dayMs : 7 * dayMs);

/**
 * Refreshes after the expiration date of a renewing subscription continue for the longest billing retry period: Apple
 * retries for up to 60 days, and for up to 90 days for a plan with a commitment.
 * @see https://developer.apple.com/documentation/storekit/reducing-involuntary-subscriber-churn
 * @see https://developer.apple.com/documentation/storekit/managing-lifecycle-of-monthly-subscriptions-with-a-12-month-commitment-
 */
const billingRetryWindowMs = 90 * dayMs;

/** Time of refreshes after the end of a shared purchase. Apple does not document a limit of reversals. */
const refundReversalWindowMs = 60 * dayMs;

/**
 * Maximum interval of attempts to acknowledge a purchase.
 * @see https://developer.android.com/google/play/billing/integrate#process
 */
const maxFulfillmentIntervalMs = 6 * hourMs;

/**
 * Maximum retries of a failed refresh if no later refresh is scheduled. The expiration date takes effect without the
 * store.
 */
const maxUnscheduledRetries = 8;

interface RefreshInput {
  readonly now: EpochMillis;
  /** Without a refresh token, a refresh only checks the expiration date. */
  readonly hasRefreshToken: boolean;
  /** Number of failed refreshes since the last successful one. */
  readonly failedRefreshes: number;
  /** The store notifies the service of changes of the purchase. */
  readonly isNotified?: boolean | undefined;
  /** The refresh that is scheduled so far. */
  readonly scheduledAt?: EpochMillis | undefined;
}

type StoreCheckInput = Omit<RefreshInput, 'hasRefreshToken'>;

/**
 * Computes the time of the next refresh. Undefined if the purchase cannot change without a client or a store
 * notification.
 */
export function computeNextRefresh(
  purchase: Purchase,
  { hasRefreshToken, ...input }: RefreshInput,
): EpochMillis | undefined {
  const { now, failedRefreshes } = input;
  if (hasEnded(purchase, now)) return hasRefreshToken ? computeReversalCheck(purchase, input) : undefined;
  const checkAt = hasRefreshToken ? computeStoreCheck(purchase, input) : computeExpiryCheck(purchase, now);
  if (failedRefreshes === 0) return checkAt;
  const retryAt = now + Math.min(6 * hourMs, minuteMs * 2 ** (failedRefreshes - 1));
  if (checkAt === undefined) return hasRefreshToken && failedRefreshes <= maxUnscheduledRetries ? retryAt : undefined;
  // A retry must not delay the announcement of the end.
  const end = getAccessEnd(purchase) + renewalDelayMs;
  const laterAt = isUnverified(purchase, now) ? retryAt : Math.max(checkAt, retryAt);
  return end > now ? Math.min(laterAt, end) : laterAt;
}

const hasEnded = ({ endedAt = Number.POSITIVE_INFINITY }: Purchase, date: EpochMillis): boolean => endedAt <= date;

/**
 * A reversed refund of the buyer gives access to family members and holders of seats again. The App Store documents a
 * notification of it for the buyer only.
 * @see https://developer.apple.com/documentation/appstoreservernotifications/notificationtype
 */
const computeReversalCheck = (purchase: Purchase, input: StoreCheckInput): EpochMillis | undefined =>
  purchase.isSharedPurchase && input.now <= (purchase.endedAt ?? 0) + refundReversalWindowMs
    ? computeIntervalCheck(getActiveIntervalMs(purchase, input.isNotified), input)
    : undefined;

/**
 * Returns the interval check at `date`. Undefined if the refresh at `date` follows a date of the store, such as a
 * renewal.
 */
export function findIntervalCheck(
  purchase: Purchase,
  date: EpochMillis,
  isNotified: boolean | undefined,
): IntervalCheck | undefined {
  const { isPaused, isPending, awaitsFulfillment, platform } = purchase;
  const until = getReportedEnd(purchase);
  const isEnded = hasEnded(purchase, date);
  if (isPaused || isPending || awaitsFulfillment || (date >= until && !isEnded)) return undefined;
  if (isEnded || platform === platformTokens.microsoftStore) return {};
  return { repetition: { intervalMs: getActiveIntervalMs(purchase, isNotified), until } };
}

/**
 * Returns the check that a refresh at `now` schedules if the check that was due at `dueAt` finds no change. Undefined
 * if another refresh can follow.
 */
export function computeRepeatedCheck(
  { repetition }: IntervalCheck,
  dueAt: EpochMillis,
  now: EpochMillis,
): EpochMillis | undefined {
  if (!repetition) return undefined;
  const { intervalMs, until } = repetition;
  const nextAt = dueAt + intervalMs;
  return nextAt < until && isKept(nextAt, now, intervalMs) ? nextAt : undefined;
}

/**
 * Returns the time to which a check is postponed that exceeds the budget of its app: the next one, or the day of the
 * renewal, whichever is first. Undefined for checks without a repetition, because only they find a change.
 */
export const computePostponedCheck = ({ repetition }: IntervalCheck, now: EpochMillis): EpochMillis | undefined =>
  repetition && Math.max(now + hourMs, Math.min(now + repetition.intervalMs, repetition.until));

const computeExpiryCheck = ({ expirationDate }: Purchase, now: EpochMillis): EpochMillis | undefined =>
  expirationDate !== undefined && expirationDate > now ? expirationDate : undefined;

function computeStoreCheck(purchase: Purchase, input: StoreCheckInput): EpochMillis | undefined {
  const checkAt = computeStateCheck(purchase, input);
  if (!purchase.awaitsFulfillment || !isActive(purchase, input.now)) return checkAt;
  return Math.min(checkAt ?? Number.POSITIVE_INFINITY, computeFulfillmentCheck(purchase, input.now));
}

/** Adds half of the time since the purchase, between one minute and six hours. */
function computeFulfillmentCheck({ purchaseDate }: Purchase, now: EpochMillis): EpochMillis {
  const elapsedMs = now - (purchaseDate ?? now);
  return now + Math.min(maxFulfillmentIntervalMs, Math.max(minuteMs, elapsedMs / 2));
}

function computeStateCheck(purchase: Purchase, input: StoreCheckInput): EpochMillis | undefined {
  const { now } = input;
  const { expirationDate, autoResumeDate } = purchase;
  if (purchase.isPaused) return computeResumeCheck(autoResumeDate, now);
  if (purchase.isPending) return now + hourMs;
  if (expirationDate === undefined)
    return needsOneTimeCheck(purchase, input) ? computeIntervalCheck(getOneTimeIntervalMs(purchase), input) : undefined;
  if (isActive(purchase, now))
    return Math.min(
      expirationDate + renewalDelayMs,
      computeIntervalCheck(getActiveIntervalMs(purchase, input.isNotified), input),
    );
  return isExpired(purchase, now) && canRenew(purchase) ? computeRetryCheck(expirationDate, now) : undefined;
}

/**
 * Returns a time at most an interval after `now`. Keeps the scheduled refresh if it is in the second half of the
 * interval: each move in the index costs two write units, and apps validate a receipt often.
 */
const computeIntervalCheck = (
  intervalMs: number,
  { now, scheduledAt = 0 }: Pick<RefreshInput, 'now' | 'scheduledAt'>,
): EpochMillis => (isKept(scheduledAt, now, intervalMs) ? scheduledAt : now + intervalMs);

const isKept = (scheduledAt: EpochMillis, now: EpochMillis, intervalMs: number): boolean =>
  scheduledAt >= now + intervalMs / 2 && scheduledAt <= now + intervalMs;

/** A purchase without an end is not refreshed after the StoreID key has expired, because refreshes then always fail. */
const needsOneTimeCheck = (purchase: Purchase, { now, failedRefreshes }: StoreCheckInput): boolean =>
  purchase.platform === platformTokens.microsoftStore &&
  isActive(purchase, now) &&
  failedRefreshes <= maxUnscheduledRetries;

/** Returns a time just after the resume date, then retries with backoff if the store still reports the pause. */
function computeResumeCheck(resumeDate: EpochMillis | undefined, now: EpochMillis): EpochMillis {
  if (resumeDate !== undefined && resumeDate + renewalDelayMs <= now) {
    return computeRetryCheck(resumeDate, now) ?? now + dayMs;
  }
  return Math.min((resumeDate ?? now + dayMs) + renewalDelayMs, now + dayMs);
}

/** A lapsed subscription needs a new purchase. */
const canRenew = ({ renewalIntent, isBillingRetryPeriod, isCommitted }: Purchase): boolean =>
  renewalIntent === 'Renew' || isBillingRetryPeriod === true || isCommitted === true;

/** Adds half of the time since `date`, between one minute and one day. Undefined after the billing retry window. */
function computeRetryCheck(date: EpochMillis, now: EpochMillis): EpochMillis | undefined {
  const elapsedMs = now - date;
  return elapsedMs > billingRetryWindowMs ? undefined : now + Math.min(dayMs, Math.max(minuteMs, elapsedMs / 2));
}
