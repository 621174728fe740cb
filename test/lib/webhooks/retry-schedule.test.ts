import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  computeRetryDelayMs,
  maxRetryDurationMs,
  parseRetryAfterMs,
  retryDelaysMs,
} from '../../../lib/webhooks/retry-schedule.ts';

const day = 24 * 60 * 60 * 1000;
const now = Date.parse('2026-01-01T00:00:00Z');
const random = fc.double({ min: 0, max: 1, noNaN: true });

describe('the wait for the next attempt', () => {
  it('is 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h, and then there is none', () => {
    const hours = 3_600_000;
    const waits = Array.from({ length: 10 }, (_, failed) => computeRetryDelayMs({ attempts: failed + 1, random: 0 }));
    expect(waits).toEqual([
      5_000,
      300_000,
      1_800_000,
      ...[2, 5, 10, 14, 20, 24].map((count) => count * hours),
      undefined,
    ]);
  });

  it('is never shorter than planned, and at most a tenth longer', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), random, (attempts, chance) => {
        const [planned, wait] = [
          retryDelaysMs[attempts - 1] ?? 0,
          computeRetryDelayMs({ attempts, random: chance }) ?? 0,
        ];
        expect(wait).toBeGreaterThanOrEqual(planned);
        expect(wait).toBeLessThanOrEqual(planned * 1.1 + 1);
      }),
    );
  });

  it('is what the server asks for where that is longer, up to a day', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.nat(30 * day), random, (attempts, asked, chance) => {
        const wait = computeRetryDelayMs({ attempts, retryAfterMs: asked, random: chance }) ?? 0;
        const least = Math.max(retryDelaysMs[attempts - 1] ?? 0, Math.min(asked, day));
        expect(wait).toBeGreaterThanOrEqual(least);
        expect(wait).toBeLessThanOrEqual(least * 1.1 + 1);
      }),
    );
  });

  it('ends however often the server asks for more', () => {
    expect(computeRetryDelayMs({ attempts: 10, retryAfterMs: day, random: 1 })).toBeUndefined();
  });

  it('adds up to a little more than three days', () => {
    expect(retryDelaysMs.reduce((sum, wait) => sum + wait, 0) / day).toBeCloseTo(3.15, 2);
    expect(maxRetryDurationMs).toBeGreaterThan(3 * day);
  });
});

describe('Retry-After', () => {
  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Thu, 01 Jan 2026 00:10:00 GMT', 600_000],
    ['Thursday, 01-Jan-26 00:10:00 GMT', 600_000],
    ['Thu Jan  1 00:10:00 2026', 600_000],
    ['Thu Jan 15 00:00:00 2026', 14 * day],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
  ])('understands %s', (header, wait) => {
    expect(parseRetryAfterMs(header, now)).toBe(wait);
  });

  it.each([undefined, '', '-5', '1.5', 'soon', 'Thu, 99 Foo 2026', 'Thu Foo 99 00:10:00 2026'])(
    'ignores %s',
    (header) => {
      expect(parseRetryAfterMs(header, now)).toBeUndefined();
    },
  );

  it('is at most a day, however many digits or years it has', () => {
    for (const header of ['9'.repeat(9), '9'.repeat(10), '9'.repeat(400), 'Fri, 31 Dec 9999 23:59:59 GMT']) {
      const wait = computeRetryDelayMs({ attempts: 1, random: 0, retryAfterMs: parseRetryAfterMs(header, now) ?? 0 });
      expect(wait).toBe(day);
    }
  });

  it('never makes a wait of any text that is no number', () => {
    fc.assert(
      fc.property(fc.string(), random, (header, chance) => {
        const asked = parseRetryAfterMs(header, now);
        const wait = computeRetryDelayMs({
          attempts: 1,
          random: chance,
          ...(asked !== undefined && { retryAfterMs: asked }),
        });
        expect(Number.isFinite(wait)).toBe(true);
      }),
    );
  });
});
