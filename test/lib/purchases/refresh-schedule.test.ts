import { describe, expect, it } from '@jest/globals';
import { computeNextRefresh } from '../../../lib/purchases/refresh-schedule.ts';
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
});
