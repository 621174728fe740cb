import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type BucketSize, takeFromBucket } from '../../../lib/apps/token-bucket-table.ts';

const size: BucketSize = { capacity: 10, msPerToken: 100 };
const fillMs = size.capacity * size.msPerToken;

/** Requests with non-decreasing times. */
const requests = fc
  .array(fc.record({ waitMs: fc.integer({ min: 0, max: 400 }), count: fc.integer({ min: 1, max: 12 }) }), {
    maxLength: 60,
  })
  .map((steps) => {
    let now = 1_000_000;
    return steps.map(({ waitMs, count }) => {
      now += waitMs;
      return { now, count };
    });
  });

/** Takes tokens for each request in turn. Returns the granted ones. */
function takeAll(list: readonly { readonly now: number; readonly count: number }[]) {
  let fullAt: number | undefined;
  return list.filter((request) => {
    const result = takeFromBucket(fullAt, request, size);
    if (result.isGranted) fullAt = result.fullAt;
    return result.isGranted;
  });
}

describe('takeFromBucket', () => {
  it('grants at most the capacity and the gained tokens in every window of time', () => {
    fc.assert(
      fc.property(requests, (list) => {
        const granted = takeAll(list);
        for (const [first, { now: from }] of granted.entries()) {
          let sum = 0;
          for (const { now, count } of granted.slice(first)) {
            sum += count;
            expect(sum).toBeLessThanOrEqual(size.capacity + (now - from) / size.msPerToken);
          }
        }
      }),
    );
  });

  it('grants a request at retryAt, and none before', () => {
    const used = fc.integer({ min: 0, max: size.capacity });
    const wanted = fc.integer({ min: 1, max: size.capacity });
    fc.assert(
      fc.property(used, wanted, fc.nat({ max: 999 }), (usedTokens, count, earlierMs) => {
        const now = 1_000_000;
        const fullAt = now + usedTokens * size.msPerToken;
        const result = takeFromBucket(fullAt, { now, count }, size);
        expect(result.isGranted).toBe(usedTokens + count <= size.capacity);
        if (result.isGranted) return;
        const { retryAt } = result;
        expect(takeFromBucket(fullAt, { now: retryAt, count }, size).isGranted).toBe(true);
        const earlier = Math.max(now, retryAt - 1 - earlierMs);
        expect(takeFromBucket(fullAt, { now: earlier, count }, size).isGranted).toBe(false);
      }),
    );
  });

  it('grants the capacity again after the time in which an empty bucket fills', () => {
    fc.assert(
      fc.property(requests, (list) => {
        const end = list.at(-1)?.now ?? 0;
        const full = { now: end + fillMs, count: size.capacity };
        expect(takeAll([...list, full]).at(-1)).toBe(full);
      }),
    );
  });

  it('never grants more to a clock that is behind, and does not move the state back', () => {
    const state = fc.option(fc.integer({ min: 0, max: 5_000 }), { nil: undefined });
    const time = fc.integer({ min: 0, max: 5_000 });
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 5_000 }),
        time,
        time,
        fc.integer({ min: 1, max: 12 }),
        (fullAt, a, b, count) => {
          const behind = takeFromBucket(fullAt, { now: Math.min(a, b), count }, size);
          const ahead = takeFromBucket(fullAt, { now: Math.max(a, b), count }, size);
          if (behind.isGranted) {
            expect(ahead.isGranted).toBe(true);
            expect(behind.fullAt).toBeGreaterThanOrEqual(fullAt);
          }
        },
      ),
    );
    fc.assert(
      fc.property(state, time, fc.integer({ min: 1, max: 12 }), (fullAt, now, count) => {
        const result = takeFromBucket(fullAt, { now, count }, size);
        if (!result.isGranted) expect(result.retryAt - now).toBeLessThanOrEqual(fillMs);
      }),
    );
  });
});
