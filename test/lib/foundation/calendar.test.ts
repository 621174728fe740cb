import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addDays, addMonths, getSameDayPreviousMonth, listDays, listMonths } from '../../../lib/foundation/calendar.ts';

const anyDay = fc.integer({ min: -10_000, max: 40_000 }).map((days) => addDays('2000-01-01', days));

describe('getSameDayPreviousMonth', () => {
  it.each([
    ['2026-03-15', '2026-02-15'],
    ['2026-01-15', '2025-12-15'],
    ['2026-01-31', '2025-12-31'],
    ['2026-03-31', '2026-02-28'],
    ['2026-03-28', '2026-02-28'],
    ['2024-03-31', '2024-02-29'],
    ['2024-03-30', '2024-02-29'],
    ['2100-03-29', '2100-02-28'],
    ['2026-05-31', '2026-04-30'],
    ['2026-08-31', '2026-07-31'],
  ])('returns for %s the day %s', (day, previous) => {
    expect(getSameDayPreviousMonth(day)).toBe(previous);
  });

  it('returns a day of the previous month, 28 to 31 days back, in the order of the days', () => {
    fc.assert(
      fc.property(anyDay, (day) => {
        const previous = getSameDayPreviousMonth(day);
        const daysBack = listDays(previous, day).length - 1;
        expect(previous.slice(0, 7)).toBe(addMonths(day.slice(0, 7), -1));
        expect(daysBack).toBeGreaterThanOrEqual(28);
        expect(daysBack).toBeLessThanOrEqual(31);
        expect(getSameDayPreviousMonth(addDays(day, 1)) >= previous).toBe(true);
      }),
    );
  });
});

describe('listDays and listMonths', () => {
  it('return every day and month of the range once and in order', () => {
    fc.assert(
      fc.property(anyDay, fc.nat(800), (first, count) => {
        const days = listDays(first, addDays(first, count));
        expect(days.length).toBe(count + 1);
        expect(new Set(days).size).toBe(days.length);
        expect(days).toEqual(days.toSorted());
        const months = listMonths(first.slice(0, 7), addDays(first, count).slice(0, 7));
        expect(months).toEqual([...new Set(days.map((day) => day.slice(0, 7)))]);
      }),
    );
  });

  it('return an empty list if the last day is before the first', () => {
    expect(listDays('2026-01-02', '2026-01-01')).toEqual([]);
    expect(listMonths('2026-02', '2026-01')).toEqual([]);
  });
});
