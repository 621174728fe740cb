import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Purchase } from '../../../lib/purchases/purchase.ts';
import { computeNextRefresh, isIntervalCheck } from '../../../lib/purchases/refresh-schedule.ts';
import type { Platform } from '../../../lib/shared/platform.ts';
import { dayMs, minuteMs } from '../../../lib/shared/time.ts';
import { createObservation, startDate } from '../../../testing/given.ts';

const refreshAt = (now: number) => ({ now, hasRefreshToken: true, failedRefreshes: 0 });

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
    expect(isIntervalCheck(shared, startDate + 3 * dayMs)).toBe(true);
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
