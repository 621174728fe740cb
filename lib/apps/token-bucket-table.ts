import * as v from 'valibot';
import { type Key, toDigest, toTtl } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';
import type { Update } from '../foundation/table.ts';
import { type EpochMillis, hourMs } from '../foundation/time.ts';
import { retryOnConflict } from '../foundation/updates.ts';

/** Number of tokens in a full bucket, and the time in which an emptier one gains a token. */
export interface BucketSize {
  readonly capacity: number;
  readonly msPerToken: number;
}

type TakeResult =
  | { readonly isGranted: true; readonly fullAt: EpochMillis }
  | { readonly isGranted: false; readonly retryAt: EpochMillis };

/** A source of requests, with a token bucket in the table. */
export interface BucketSource {
  readonly kind: string;
  readonly value: string;
}

const BucketItem = v.object({ fullAt: v.number() });

interface TokenRequest {
  readonly count: number;
  readonly now: EpochMillis;
  readonly size: BucketSize;
}

/**
 * Takes tokens from the bucket of a source. Returns the time of the next attempt if it has too few, else undefined. An
 * empty bucket costs one read and no write.
 */
export async function takeTokens(
  { table }: Service,
  source: BucketSource,
  request: TokenRequest,
): Promise<EpochMillis | undefined> {
  return await retryOnConflict(async () => {
    const key = keys.tokenBucketKey(source.kind, toDigest(source.value));
    const item = await table.get(key);
    const fullAt = item && parse(BucketItem, item, 'DatabaseError').fullAt;
    const result = takeFromBucket(fullAt, request, request.size);
    if (!result.isGranted) return result.retryAt;
    await table.update(buildTakeUpdate(key, fullAt, request));
    return undefined;
  });
}

/**
 * Builds the update for tokens that the bucket had when it was read. Concurrent updates all succeed while the bucket
 * has enough tokens: the condition is a range, except for a bucket that is full.
 */
function buildTakeUpdate(key: Key, fullAt: EpochMillis | undefined, { count, now, size }: TokenRequest): Update {
  const fillMs = size.capacity * size.msPerToken;
  const addedMs = count * size.msPerToken;
  const isFull = fullAt !== undefined && fullAt <= now;
  return {
    Key: { ...key },
    UpdateExpression: `SET fullAt = ${isFull ? ':now' : 'if_not_exists(fullAt, :now)'} + :added, #ttl = :ttl`,
    ConditionExpression: isFull ? 'fullAt <= :now' : 'attribute_not_exists(fullAt) OR fullAt BETWEEN :now AND :latest',
    ExpressionAttributeNames: { '#ttl': 'ttl' },
    ExpressionAttributeValues: {
      ':now': now,
      ':added': addedMs,
      ':ttl': toTtl(now + fillMs + hourMs),
      ...(!isFull && { ':latest': now + fillMs - addedMs }),
    },
  };
}

/**
 * Takes `count` tokens from a bucket, or none if it has fewer. The state of a bucket is the time at which it is full
 * again; a bucket without state is full. A clock that is behind sees fewer tokens, never more. `retryAt` is at most the
 * time in which an empty bucket fills, even if a clock that was ahead has written the state.
 */
export function takeFromBucket(
  fullAt: EpochMillis | undefined,
  { count, now }: { readonly count: number; readonly now: EpochMillis },
  { capacity, msPerToken }: BucketSize,
): TakeResult {
  const nextFullAt = Math.max(fullAt ?? now, now) + count * msPerToken;
  const fillMs = capacity * msPerToken;
  if (nextFullAt <= now + fillMs) return { isGranted: true, fullAt: nextFullAt };
  return { isGranted: false, retryAt: Math.min(nextFullAt - fillMs, now + fillMs) };
}
