import { expect, it } from '@jest/globals';
import { nextLook } from '../../../lib/purchases/due.ts';
import { day, seenPurchase, start } from '../../support/given.ts';

const minute = 60_000;
const looking = (now: number) => ({ now, refreshable: true, failures: 0 });

it('a paused subscription is looked at just after its date, and less and less often when it stays paused', () => {
  const { purchase } = seenPurchase({ isPaused: true, autoResumeDate: start + day / 2 });
  expect(nextLook(purchase, looking(start))).toBe(start + day / 2 + 5_000);
  const waits = [1, 10, 60, 600].map((minutes) => {
    const now = start + day / 2 + minutes * minute;
    return (nextLook(purchase, looking(now)) ?? 0) - now;
  });
  expect(waits).toEqual(waits.toSorted((a, b) => a - b));
  const late = start + 40 * day;
  expect((nextLook(purchase, looking(late)) ?? 0) - late).toBe(day);
});

it('a paused subscription without a date is looked at every day', () => {
  const { purchase } = seenPurchase({ isPaused: true });
  expect(nextLook(purchase, looking(start))).toBe(start + day);
});
