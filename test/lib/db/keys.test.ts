import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { timestampRange, toSortableTimestamp } from '../../../lib/db/keys.ts';

/** From the year -271821 to 275760, with many near the ends of what 13 digits can say. */
const anyMoment = fc.oneof(
  fc.integer({ min: -8_640_000_000_000_000, max: 8_640_000_000_000_000 }),
  fc.integer({ min: -3, max: 3 }),
  fc.integer({ min: 9_999_999_999_990, max: 10_000_000_000_009 }),
);

describe('a moment in a key', () => {
  it('has 13 digits, and never sorts before that of an earlier one', () => {
    fc.assert(
      fc.property(anyMoment, anyMoment, (one, other) => {
        for (const moment of [one, other]) expect(toSortableTimestamp(moment)).toMatch(/^\d{13}$/);
        const [earlier, later] = one < other ? [one, other] : [other, one];
        expect(toSortableTimestamp(earlier) <= toSortableTimestamp(later)).toBe(true);
      }),
    );
  });

  it('that can be written in 13 digits is that number', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9_999_999_999_999 }), (moment) => {
        expect(Number(toSortableTimestamp(moment))).toBe(moment);
      }),
    );
  });
});

it('the keys between two moments, or from one of them on, are a range that a query can be asked for', () => {
  const maybe = fc.option(anyMoment, { nil: undefined });
  fc.assert(
    fc.property(maybe, maybe, (startdate, enddate) => {
      fc.pre(startdate === undefined || enddate === undefined || startdate < enddate);
      const [from, until] = timestampRange({ startdate, enddate });
      expect(from <= until).toBe(true);
    }),
  );
});
