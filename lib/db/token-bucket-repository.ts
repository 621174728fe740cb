import * as v from 'valibot';
import type { TokenBuckets } from '../apps/bucket-limiter.ts';
import * as keys from '../foundation/keys.ts';
import type { Table, Update } from '../foundation/table.ts';
import { parse } from '../shared/parse.ts';
import { retryOnConflict } from '../shared/retry.ts';
import { type EpochMillis, hourMs } from '../shared/time.ts';
import { takeTokens } from '../shared/token-bucket.ts';

const BucketItem = v.object({ fullAt: v.number() });

type Request = Parameters<TokenBuckets['take']>[1];

/** Creates the token buckets in the table. An empty bucket costs one read and no write. */
export function createTokenBucketRepository(table: Table): TokenBuckets {
  return {
    take: async (source, request) =>
      await retryOnConflict(async () => {
        const key = keys.tokenBucketKey(source.kind, source.value);
        const item = await table.get(key);
        const fullAt = item && parse(BucketItem, item, 'DatabaseError').fullAt;
        const result = takeTokens(fullAt, request, request.size);
        if (!result.isGranted) return result.retryAt;
        await table.update(buildTakeUpdate(key, fullAt, request));
        return undefined;
      }),
  };
}

/**
 * Builds the update for tokens that the bucket had when it was read. Concurrent updates all succeed while the bucket
 * has enough tokens: the condition is a range, except for a bucket that is full.
 */
function buildTakeUpdate(key: keys.Key, fullAt: EpochMillis | undefined, { count, now, size }: Request): Update {
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
      ':ttl': keys.toTtl(now + fillMs + hourMs),
      ...(!isFull && { ':latest': now + fillMs - addedMs }),
    },
  };
}
