import { expect, it } from '@jest/globals';
import { computeNextRefresh } from '../../../lib/purchases/refresh-schedule.ts';
import { createObservation, dayMs, startDate } from '../../../testing/given.ts';

const minute = 60_000;
const looking = (now: number) => ({ now, refreshable: true, failures: 0 });

it('a paused subscription is looked at just after its date, and less and less often when it stays paused', () => {
  const { purchase } = createObservation({ isPaused: true, autoResumeDate: startDate + dayMs / 2 });
  expect(computeNextRefresh(purchase, looking(startDate))).toBe(startDate + dayMs / 2 + 5_000);
  const waits = [1, 10, 60, 600].map((minutes) => {
    const now = startDate + dayMs / 2 + minutes * minute;
    return (computeNextRefresh(purchase, looking(now)) ?? 0) - now;
  });
  expect(waits).toEqual(waits.toSorted((a, b) => a - b));
  const late = startDate + 40 * dayMs;
  expect((computeNextRefresh(purchase, looking(late)) ?? 0) - late).toBe(dayMs);
});

it('a paused subscription without a date is looked at every day', () => {
  const { purchase } = createObservation({ isPaused: true });
  expect(computeNextRefresh(purchase, looking(startDate))).toBe(startDate + dayMs);
});
