import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type BucketSource, takeTokens } from '../../../lib/apps/token-bucket-table.ts';
import { toDigest } from '../../../lib/foundation/key.ts';
import { tokenBucketKey } from '../../../lib/foundation/keys.ts';
import { createService } from '../../../testing/create-service.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { createTestTable } from '../../../testing/table.ts';

const size = { capacity: 100, msPerToken: 1_000 };
const start = Date.parse('2026-01-01T00:00:00Z');

const table = startBeforeAll(createTestTable);
let source: BucketSource;
beforeEach(() => {
  source = { kind: 'address', value: randomUUID() };
});

const take = async (count: number, now = start) => await takeTokens(createService(table), source, { count, now, size });

describe('takeTokens', () => {
  it('grants the capacity to concurrent containers, and never more', async () => {
    const results = await Promise.all(Array.from({ length: 30 }, async () => await take(10)));
    expect(results.filter((retryAt) => retryAt === undefined)).toHaveLength(10);
  });

  it('grants the capacity again to concurrent containers when the bucket is full', async () => {
    await take(size.capacity);
    const later = start + size.capacity * size.msPerToken;
    const results = await Promise.all(Array.from({ length: 30 }, async () => await take(10, later)));
    expect(results.filter((retryAt) => retryAt === undefined)).toHaveLength(10);
  });

  it('returns the time at which an emptier bucket has the tokens, without a write', async () => {
    await take(95);
    const before = table.consumed.write;
    expect(await take(10)).toBe(start + 5 * size.msPerToken);
    expect(table.consumed.write).toBe(before);
    expect(await take(10, start + 5 * size.msPerToken)).toBeUndefined();
  });

  it('deletes a bucket by TTL only after it is full', async () => {
    await take(size.capacity);
    const item = await table.get(tokenBucketKey(source.kind, toDigest(source.value)));
    expect(Number(item?.ttl) * 1000).toBeGreaterThan(Number(item?.fullAt));
  });

  it('stores neither the address nor the key', async () => {
    await take(1);
    const item = await table.get(tokenBucketKey(source.kind, toDigest(source.value)));
    expect(JSON.stringify(item)).not.toContain(source.value);
  });
});
