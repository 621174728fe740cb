import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dayMs, hourMs } from '../../../lib/foundation/time.ts';
import {
  computeRetryDelayMs,
  maxRetryDurationMs,
  parseRetryAfterMs,
  retryDelaysMs,
} from '../../../lib/webhooks/retry-schedule.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const arbitraryRandom = fc.double({ min: 0, max: 1, noNaN: true });

describe('computeRetryDelayMs', () => {
  it('returns 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, then undefined', () => {
    const delaysMs = Array.from({ length: 10 }, (_, index) =>
      computeRetryDelayMs({ failedAttempts: index + 1, random: 0 }),
    );
    expect(delaysMs).toEqual([
      5_000,
      300_000,
      1_800_000,
      ...[2, 5, 10, 14, 20, 24].map((count) => count * hourMs),
      undefined,
    ]);
  });

  it('adds a jitter of at most a tenth', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), arbitraryRandom, (failedAttempts, random) => {
        const minDelayMs = retryDelaysMs[failedAttempts - 1] ?? 0;
        const delayMs = computeRetryDelayMs({ failedAttempts, random });
        expect(delayMs).toBeGreaterThanOrEqual(minDelayMs);
        expect(delayMs).toBeLessThanOrEqual(minDelayMs * 1.1 + 1);
      }),
    );
  });

  it('uses a longer delay that the server requests, up to a day', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.nat(30 * dayMs),
        arbitraryRandom,
        (failedAttempts, retryAfterMs, random) => {
          const delayMs = computeRetryDelayMs({ failedAttempts, retryAfterMs, random });
          const minDelayMs = Math.max(retryDelaysMs[failedAttempts - 1] ?? 0, Math.min(retryAfterMs, dayMs));
          expect(delayMs).toBeGreaterThanOrEqual(minDelayMs);
          expect(delayMs).toBeLessThanOrEqual(minDelayMs * 1.1 + 1);
        },
      ),
    );
  });

  it('returns undefined after the last attempt even if the server requests a retry', () => {
    expect(computeRetryDelayMs({ failedAttempts: 10, retryAfterMs: dayMs, random: 1 })).toBeUndefined();
  });

  it('schedules the attempts over a little more than three days', () => {
    expect(retryDelaysMs.reduce((sum, delayMs) => sum + delayMs, 0) / dayMs).toBeCloseTo(3.15, 2);
    expect(maxRetryDurationMs).toBeGreaterThan(3 * dayMs);
  });
});

describe('parseRetryAfterMs', () => {
  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Thu, 01 Jan 2026 00:10:00 GMT', 600_000],
    ['Thursday, 01-Jan-26 00:10:00 GMT', 600_000],
    ['Thu Jan  1 00:10:00 2026', 600_000],
    ['Thu Jan 15 00:00:00 2026', 14 * dayMs],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
  ])('parses %s', (header, delayMs) => {
    expect(parseRetryAfterMs(header, now)).toBe(delayMs);
  });

  it.each([undefined, '', '-5', '1.5', 'soon', 'Thu, 99 Foo 2026', 'Thu Foo 99 00:10:00 2026'])(
    'ignores %s',
    (header) => {
      expect(parseRetryAfterMs(header, now)).toBeUndefined();
    },
  );

  it('leads to a delay of at most a day for any number of digits or years', () => {
    for (const header of ['9'.repeat(9), '9'.repeat(10), '9'.repeat(400), 'Fri, 31 Dec 9999 23:59:59 GMT']) {
      const retryAfterMs = parseRetryAfterMs(header, now) ?? 0;
      expect(computeRetryDelayMs({ failedAttempts: 1, random: 0, retryAfterMs })).toBe(dayMs);
    }
  });

  it('leads to a finite delay for any text', () => {
    fc.assert(
      fc.property(fc.string(), arbitraryRandom, (header, random) => {
        const retryAfterMs = parseRetryAfterMs(header, now);
        const delayMs = computeRetryDelayMs({
          failedAttempts: 1,
          random,
          ...(retryAfterMs !== undefined && { retryAfterMs }),
        });
        expect(Number.isFinite(delayMs)).toBe(true);
      }),
    );
  });
});
