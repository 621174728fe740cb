import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseKeyTimestamp } from '../../../lib/foundation/key.ts';
import { dueIndexKeys, moveDueSortKey, parseIntervalCheck } from '../../../lib/foundation/keys.ts';
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
  const resumeMs = dayMs / 2;
  const paused = { isPaused: true, autoResumeDate: startDate + resumeMs };
  const active = { expirationDate: startDate + 30 * dayMs };
  const ended = { platform: 'store_a', endedAt: startDate, expirationDate: startDate } as const;
  const shared = { ...ended, isSharedPurchase: true };
  const inRetry = { expirationDate: startDate, renewalIntent: 'Renew', isBillingRetryPeriod: true } as const;
  const unverified = { unverifiedUntil: startDate + 32 * dayMs };
  const scheduled = { scheduledAt: startDate + 3 * dayMs };
  const failed = { failedRefreshes: 20 };

  it.each<[string, Partial<Purchase>, number, Partial<Parameters<typeof computeNextRefresh>[1]>, number | undefined]>([
    ['the resume date of a paused subscription', paused, 0, {}, resumeMs + 5_000],
    ['a minute later just after that date', paused, resumeMs + minuteMs, {}, minuteMs],
    ['half of the time since that date after ten minutes', paused, resumeMs + 10 * minuteMs, {}, 5 * minuteMs],
    ['half of that time after an hour', paused, resumeMs + hourMs, {}, hourMs / 2],
    ['half of that time after ten hours', paused, resumeMs + 10 * hourMs, {}, 5 * hourMs],
    ['each day for a subscription that stays paused', paused, 40 * dayMs, {}, dayMs],
    ['each day for a pause without a resume date', { isPaused: true }, 0, {}, dayMs],
    ['each day of 90 in billing retry, as Apple retries a commitment', inRetry, 89 * dayMs, {}, dayMs],
    ['none after 90 days in billing retry', inRetry, 91 * dayMs, {}, undefined],
    ['the interval of an active subscription', active, 0, {}, 3 * dayMs],
    ['the scheduled date after a third of the interval', active, dayMs, scheduled, 2 * dayMs],
    ['the scheduled date after half of the interval', active, 1.5 * dayMs, scheduled, 1.5 * dayMs],
    ['the interval in its second half', active, 2 * dayMs, scheduled, 3 * dayMs],
    ['the interval after the scheduled date', active, 4 * dayMs, scheduled, 3 * dayMs],
    [
      'ten days while store notifications arrive',
      { ...active, platform: 'store_a' },
      0,
      { isNotified: true },
      10 * dayMs,
    ],
    // The Microsoft Store sends no notifications of renewals.
    ['a day for the Microsoft Store', { ...active, platform: 'store_c' }, 0, { isNotified: true }, dayMs],
    // The App Store can reverse a refund.
    ['the interval after the end of a shared purchase', shared, 0, {}, 3 * dayMs],
    ['the interval 40 days after that end', shared, 40 * dayMs, {}, 3 * dayMs],
    ['the interval 59 days after that end', shared, 59 * dayMs, {}, 3 * dayMs],
    ['none 61 days after that end', shared, 61 * dayMs, {}, undefined],
    ['none after that end without a refresh token', shared, 0, { hasRefreshToken: false }, undefined],
    ['none after the end of an own purchase', ended, 0, {}, undefined],
    ['the end of access after a failure before it', unverified, 31.9 * dayMs, failed, 0.1 * dayMs + 5_000],
    ['six hours after a failure behind the end of access', unverified, 33 * dayMs, failed, 6 * hourMs],
  ])('returns the next refresh: %s', (_when, state, afterMs, options, delayMs) => {
    const { purchase } = createObservation(state);
    const now = startDate + afterMs;
    const refreshDate = computeNextRefresh(purchase, { ...refreshAt(now), ...options });
    expect(refreshDate).toBe(delayMs && now + delayMs);
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
});

describe('findIntervalCheck', () => {
  it('repeats no check of an ended shared purchase without its refresh, which finds a reversal', () => {
    const { purchase } = createObservation({ endedAt: startDate, expirationDate: startDate, isSharedPurchase: true });
    expect(findIntervalCheck(purchase, startDate + 3 * dayMs, false)).toEqual({});
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
