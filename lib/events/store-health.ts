import { dayMs, type EpochMillis, minuteMs } from '../foundation/time.ts';
import type { StoreActivity } from './store-activity-table.ts';

export type StoreHealth = 'unused' | 'ok' | 'degraded' | 'failing';

interface StoreUse {
  readonly notification?: StoreActivity | undefined;
  readonly success?: StoreActivity | undefined;
  readonly failure?: StoreActivity | undefined;
  /** The latest rejection of the settings, if it is still in force. */
  readonly rejection?: StoreActivity | undefined;
  /** Requests of the last hour, since the settings were accepted. */
  readonly recent: { readonly numRequests: number; readonly numFailures: number };
}

const failingShare = 0.5;
const degradedShare = 0.1;

/** Fewer failures are not a share: a single failed request says nothing. */
const minFailures = 2;

/** Successes are recorded once a minute. A later failure is the end of a series without one. */
const minOutageMs = 2 * minuteMs;

/**
 * Derives the health of a store from the requests of the last hour, or from the latest ones if they failed in
 * succession: an outage that has just begun is a small share of the hour.
 */
export function deriveStoreHealth({ notification, success, failure, rejection, recent }: StoreUse): StoreHealth {
  if (rejection) return 'failing';
  if (!notification && !success && !failure) return 'unused';
  const { numRequests, numFailures } = recent;
  const outageMs = failure ? failure.date - (success?.date ?? 0) : 0;
  if (numRequests === 0) return outageMs > 0 ? 'failing' : 'ok';
  const share = numFailures / numRequests;
  if (numFailures < minFailures) return share === 1 ? 'degraded' : 'ok';
  if (share >= failingShare || outageMs >= minOutageMs) return 'failing';
  return share >= degradedShare ? 'degraded' : 'ok';
}

/** Successes end a rejection only then: a cached token can be valid for longer than its key. */
const rejectionMs = 10 * minuteMs;

/** The store has not accepted the settings since the rejection. */
export const isRejectionInForce = (
  { date }: StoreActivity,
  { acceptedAt, successAt, now }: { acceptedAt: EpochMillis; successAt: EpochMillis; now: EpochMillis },
): boolean => date > acceptedAt && (date >= successAt || now - date < rejectionMs);

/** A purchase whose key has expired is refreshed at least once a day. */
const expiredKeyRetentionMs = 2 * dayMs;

/** Selects the stores that cannot be queried for a purchase, because only the customer's device creates a new key. */
export const selectExpiredKeys = (activities: readonly StoreActivity[], now: EpochMillis): StoreActivity[] =>
  activities.filter(({ kind, date }) => kind === 'expiredKey' && now - date < expiredKeyRetentionMs);
