import type { EpochMillis } from './time.ts';

/** Number of tokens in a full bucket, and the time in which an emptier one gains a token. */
export interface BucketSize {
  readonly capacity: number;
  readonly msPerToken: number;
}

type TakeResult =
  | { readonly isGranted: true; readonly fullAt: EpochMillis }
  | { readonly isGranted: false; readonly retryAt: EpochMillis };

/**
 * Takes `count` tokens from a bucket, or none if it has fewer. The state of a bucket is the time at which it is full
 * again; a bucket without state is full. A clock that is behind sees fewer tokens, never more. `retryAt` is at most the
 * time in which an empty bucket fills, even if a clock that was ahead has written the state.
 */
export function takeTokens(
  fullAt: EpochMillis | undefined,
  { count, now }: { readonly count: number; readonly now: EpochMillis },
  { capacity, msPerToken }: BucketSize,
): TakeResult {
  const nextFullAt = Math.max(fullAt ?? now, now) + count * msPerToken;
  const fillMs = capacity * msPerToken;
  if (nextFullAt <= now + fillMs) return { isGranted: true, fullAt: nextFullAt };
  return { isGranted: false, retryAt: Math.min(nextFullAt - fillMs, now + fillMs) };
}
