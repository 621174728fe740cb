import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseKeyTimestamp } from '../../../lib/foundation/key.ts';
import { dueIndexKeys, moveDueSortKey, parseIntervalCheck } from '../../../lib/foundation/keys.ts';
import type { Platform } from '../../../lib/foundation/platform.ts';
import { dayMs, hourMs, minuteMs } from '../../../lib/foundation/time.ts';
import type { Purchase } from '../../../lib/purchases/purchase.ts';
import {
  computeNextRefresh,
  computePostponedCheck,
  computeRepeatedCheck,
  findIntervalCheck,
} from '../../../lib/purchases/refresh-schedule.ts';
import { createObservation, startDate } from '../../../testing/given.ts';

const refreshAt = (now: number) => ({ now, hasRefreshToken: true, failedRefreshes: 0 });

describe('computePostponedCheck', () => {
  it.each([
    ['the next check', 30 * dayMs, 10 * dayMs],
    ['the day of the renewal', 4 * dayMs, 4 * dayMs],
    ['the next hour on the day of the renewal', -dayMs / 2, hourMs],
  ])('postpones a check to %s', (_name, untilMs, expectedMs) => {
    const repetition = { intervalMs: 10 * dayMs, until: startDate + untilMs };
    expect(computePostponedCheck({ repetition }, startDate)).toBe(startDate + expectedMs);
  });

  it('does not postpone the only search for a change', () => {
    expect(computePostponedCheck({}, startDate)).toBeUndefined();
  });
});

describe('computeNextRefresh', () => {
  it('schedules a paused subscription just after its resume date, then with backoff while it stays paused', () => {
    const { purchase } = createObservation({ isPaused: true, autoResumeDate: startDate + dayMs / 2 });
    expect(computeNextRefresh(purchase, refreshAt(startDate))).toBe(startDate + dayMs / 2 + 5_000);
    const delays = [1, 10, 60, 600].map((minutes) => {
      const now = startDate + dayMs / 2 + minutes * minuteMs;
      return (computeNextRefresh(purchase, refreshAt(now)) ?? 0) - now;
    });
    expect(delays).toEqual(delays.toSorted((a, b) => a - b));
    const late = startDate + 40 * dayMs;
    expect((computeNextRefresh(purchase, refreshAt(late)) ?? 0) - late).toBe(dayMs);
  });

  it('refreshes a subscription in billing retry for 90 days, as Apple retries the payments of a commitment', () => {
    const { purchase } = createObservation({
      expirationDate: startDate,
      renewalIntent: 'Renew',
      isBillingRetryPeriod: true,
    });
    const [during, after] = [startDate + 89 * dayMs, startDate + 91 * dayMs];
    expect(computeNextRefresh(purchase, refreshAt(during))).toBe(during + dayMs);
    expect(computeNextRefresh(purchase, refreshAt(after))).toBeUndefined();
  });

  it('schedules a paused subscription without resume date every day', () => {
    const { purchase } = createObservation({ isPaused: true });
    expect(computeNextRefresh(purchase, refreshAt(startDate))).toBe(startDate + dayMs);
  });

  it('keeps the scheduled refresh of an active subscription in the second half of the interval', () => {
    const { purchase } = createObservation({ expirationDate: startDate + 30 * dayMs });
    const first = computeNextRefresh(purchase, refreshAt(startDate));
    expect(first).toBe(startDate + 3 * dayMs);
    const refreshAfter = (days: number) =>
      computeNextRefresh(purchase, { ...refreshAt(startDate + days * dayMs), scheduledAt: first });
    expect(refreshAfter(1)).toBe(first);
    expect(refreshAfter(1.5)).toBe(first);
    expect(refreshAfter(2)).toBe(startDate + 5 * dayMs);
    expect(refreshAfter(4)).toBe(startDate + 7 * dayMs);
  });

  it('refreshes every active subscription within its interval and just after its expiration date', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 4, noNaN: true }), { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 1, max: 60 }),
        (delaysInDays, daysUntilEnd) => {
          const expirationDate = startDate + daysUntilEnd * dayMs;
          const { purchase } = createObservation({ expirationDate });
          let now = startDate;
          let scheduledAt: number | undefined;
          for (const days of delaysInDays) {
            now += Math.round(days * dayMs);
            if (now >= expirationDate) return;
            scheduledAt = computeNextRefresh(purchase, { ...refreshAt(now), scheduledAt });
            expect(scheduledAt).toBeGreaterThan(now);
            expect(scheduledAt).toBeLessThanOrEqual(Math.min(now + 3 * dayMs, expirationDate + 5_000));
          }
        },
      ),
    );
  });

  it('refreshes an active subscription every ten days while store notifications arrive', () => {
    const { purchase } = createObservation({ expirationDate: startDate + 30 * dayMs });
    const schedule = (platform: Platform) =>
      computeNextRefresh({ ...purchase, platform }, { ...refreshAt(startDate), isNotified: true });
    expect(schedule('store_a')).toBe(startDate + 10 * dayMs);
    // The Microsoft Store sends no notifications of renewals.
    expect(schedule('store_c')).toBe(startDate + dayMs);
  });

  it('refreshes the ended purchase of a family member for 60 days, because the App Store can reverse a refund', () => {
    const end = { endedAt: startDate, expirationDate: startDate };
    const { purchase: shared } = createObservation({ ...end, platform: 'store_a', isSharedPurchase: true });
    const computeDays = (purchase: Purchase, days: number) => {
      const now = startDate + days * dayMs;
      return ((computeNextRefresh(purchase, refreshAt(now)) ?? Number.NaN) - now) / dayMs;
    };
    expect([0, 40, 59].map((days) => computeDays(shared, days))).toEqual([3, 3, 3]);
    // No notification reports the reversal, so the check does not repeat without its refresh.
    expect(findIntervalCheck(shared, startDate + 3 * dayMs, false)).toEqual({});
    expect(computeDays(shared, 61)).toBeNaN();
    expect(computeNextRefresh(shared, { ...refreshAt(startDate), hasRefreshToken: false })).toBeUndefined();
    const { purchase: own } = createObservation({ ...end, platform: 'store_a' });
    expect(computeDays(own, 0)).toBeNaN();
  });

  it('retries a failed refresh at the end of access at the latest', () => {
    const { purchase } = createObservation({ unverifiedUntil: startDate + 32 * dayMs });
    const retryAfter = (now: number) =>
      computeNextRefresh(purchase, { now, hasRefreshToken: true, failedRefreshes: 20 });
    expect(retryAfter(startDate + 31.9 * dayMs)).toBe(startDate + 32 * dayMs + 5_000);
    expect(retryAfter(startDate + 33 * dayMs)).toBe(startDate + 33.25 * dayMs);
  });
});

describe('computeRepeatedCheck', () => {
  /** Runs the check that the due sort key of a purchase describes. The refresh was due at `dueAt`. */
  const repeat = (purchase: Purchase, { dueAt, now, isNotified = false }: Check) => {
    const check = findIntervalCheck(purchase, dueAt, isNotified);
    const stored = check && parseIntervalCheck(dueIndexKeys({ pk: 'P', sk: 'P' }, dueAt, check).dueSk);
    return stored && computeRepeatedCheck(stored, dueAt, now);
  };

  interface Check {
    readonly dueAt: number;
    readonly now: number;
    readonly isNotified?: boolean;
  }

  const anyCheck = fc.record({
    endMs: fc.integer({ min: 0, max: 40 * dayMs }),
    dueMs: fc.integer({ min: 0, max: 40 * dayMs }),
    lateMs: fc.integer({ min: 0, max: 6 * dayMs }),
    isNotified: fc.boolean(),
  });

  it('returns the time that the refresh would schedule, before the end of the period', () => {
    let repetitions = 0;
    fc.assert(
      fc.property(anyCheck, ({ endMs, dueMs, lateMs, isNotified }) => {
        const { purchase } = createObservation({ expirationDate: startDate + endMs });
        const dueAt = startDate + dueMs;
        const now = dueAt + lateMs;
        const nextAt = repeat(purchase, { dueAt, now, isNotified });
        if (nextAt === undefined) return;
        repetitions++;
        expect(nextAt).toBeGreaterThan(now);
        expect(nextAt).toBeLessThan(startDate + endMs);
        expect(nextAt).toBe(computeNextRefresh(purchase, { ...refreshAt(now), isNotified, scheduledAt: nextAt }));
      }),
      { numRuns: 2_000 },
    );
    expect(repetitions).toBeGreaterThan(100);
  });

  it('never passes the end of the period, even if no check is ever made', () => {
    fc.assert(
      fc.property(anyCheck, ({ endMs, dueMs, isNotified }) => {
        const { purchase } = createObservation({ expirationDate: startDate + endMs });
        let sortKey = dueIndexKeys(
          { pk: 'P', sk: 'P' },
          startDate + dueMs,
          findIntervalCheck(purchase, startDate + dueMs, isNotified),
        ).dueSk;
        for (let dueAt = startDate + dueMs; ; dueAt = parseKeyTimestamp(sortKey)) {
          const check = parseIntervalCheck(sortKey);
          const nextAt = check && computeRepeatedCheck(check, dueAt, dueAt);
          if (nextAt === undefined) return;
          expect(nextAt).toBeLessThan(startDate + endMs);
          sortKey = moveDueSortKey(sortKey, nextAt);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('returns nothing for the Microsoft Store, whose changes only the checks find', () => {
    const { purchase } = createObservation({ expirationDate: startDate + 30 * dayMs });
    const check = { dueAt: startDate + 3 * dayMs, now: startDate + 3 * dayMs + minuteMs };
    expect(repeat(purchase, check)).toBe(startDate + 6 * dayMs);
    expect(repeat({ ...purchase, platform: 'store_c' }, check)).toBeUndefined();
  });

  it('returns nothing for the refresh of a renewal, and for a check that is late by half of the interval', () => {
    const { purchase } = createObservation({ expirationDate: startDate + 30 * dayMs });
    const dueAt = startDate + 30 * dayMs + 5_000;
    expect(repeat(purchase, { dueAt, now: dueAt })).toBeUndefined();
    const late = { dueAt: startDate + 3 * dayMs, now: startDate + 4.6 * dayMs };
    expect(repeat(purchase, late)).toBeUndefined();
  });
});
