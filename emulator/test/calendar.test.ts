import { describe, expect, it, test } from '@jest/globals';
import fc from 'fast-check';
import * as v from 'valibot';
import { addPeriod, countDays, Period } from '../calendar.ts';

const day = 86_400_000;
const timestamp = fc.integer({ min: Date.parse('2000-01-01'), max: Date.parse('2090-01-01') });
const months = fc.integer({ min: 1, max: 60 });

test.each([
  ['2027-01-31T10:00:00.000Z', 'P1M', '2027-02-28T10:00:00.000Z'],
  ['2028-01-31T10:00:00.000Z', 'P1M', '2028-02-29T10:00:00.000Z'],
  ['2028-02-29T10:00:00.000Z', 'P1Y', '2029-02-28T10:00:00.000Z'],
  ['2027-03-31T23:59:59.000Z', 'P3M', '2027-06-30T23:59:59.000Z'],
  ['2027-12-15T00:00:00.000Z', 'P1M', '2028-01-15T00:00:00.000Z'],
  ['2027-01-31T10:00:00.000Z', 'P1W', '2027-02-07T10:00:00.000Z'],
  ['2027-01-31T10:00:00.000Z', 'P1Y2M3DT4H5M6S', '2028-04-03T14:05:06.000Z'],
  ['2027-01-31T10:00:00.000Z', 'PT90S', '2027-01-31T10:01:30.000Z'],
])('adds to %s the period %s and returns %s', (start, period, end) => {
  expect(new Date(addPeriod(Date.parse(start), period)).toISOString()).toBe(end);
});

describe('addPeriod with months', () => {
  it('keeps day and time, or ends on the last day of a shorter month', () => {
    fc.assert(
      fc.property(timestamp, months, (start, count) => {
        const before = new Date(start);
        const after = new Date(addPeriod(start, `P${count}M`));
        const lastDay = new Date(Date.UTC(after.getUTCFullYear(), after.getUTCMonth() + 1, 0)).getUTCDate();
        expect(after.getUTCDate()).toBe(Math.min(before.getUTCDate(), lastDay));
        expect(start - Date.UTC(before.getUTCFullYear(), before.getUTCMonth(), before.getUTCDate())).toBe(
          after.getTime() - Date.UTC(after.getUTCFullYear(), after.getUTCMonth(), after.getUTCDate()),
        );
        const monthsBetween =
          (after.getUTCFullYear() - before.getUTCFullYear()) * 12 + after.getUTCMonth() - before.getUTCMonth();
        expect(monthsBetween).toBe(count);
      }),
    );
  });

  it('returns to the original day after a shorter month', () => {
    const anchor = Date.parse('2027-01-31T10:00:00Z');
    const days = Array.from({ length: 4 }, (_, n) => new Date(addPeriod(anchor, 'P1M', n + 1)).getUTCDate());
    expect(days).toEqual([28, 31, 30, 31]);
  });

  it('treats 12 months as a year', () => {
    fc.assert(
      fc.property(timestamp, fc.integer({ min: 1, max: 5 }), (start, years) => {
        expect(addPeriod(start, `P${years}Y`)).toBe(addPeriod(start, 'P1M', years * 12));
      }),
    );
  });
});

describe('Period', () => {
  it('adds a constant length for weeks and days', () => {
    fc.assert(
      fc.property(timestamp, fc.integer({ min: 1, max: 500 }), (start, count) => {
        expect(addPeriod(start, `P${count}W`) - start).toBe(count * 7 * day);
        expect(addPeriod(start, `P${count}D`) - start).toBe(count * day);
      }),
    );
  });

  it('ends later if it is repeated more often', () => {
    fc.assert(
      fc.property(timestamp, months, fc.integer({ min: 0, max: 40 }), (start, count, times) => {
        expect(addPeriod(start, `P${count}M`, times + 1)).toBeGreaterThan(addPeriod(start, `P${count}M`, times));
      }),
    );
  });

  it('compares periods by their average number of days', () => {
    expect(countDays('P1Y')).toBeCloseTo(365.25);
    expect(countDays('P1M')).toBeGreaterThan(countDays('P4W'));
  });

  test.each(['', 'P', 'PT', 'P0D', 'P1', '1M', 'P1M2', 'P-1M', 'p1m', 'P1.5M', 'P1DT', 'P99999Y'])(
    'rejects %j',
    (text) => {
      expect(v.safeParse(Period, text).success).toBe(false);
    },
  );
});
