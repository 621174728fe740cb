import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { computeMedianInterval, median, percentile } from '../../bench/median.ts';

const range = (count: number): number[] => Array.from({ length: count }, (_value, index) => index + 1);

describe('computeMedianInterval', () => {
  it('spans the 7th to the 15th of 21 values at 90 % confidence', () => {
    // P(Bin(21, 1/2) <= 6) = 0.039 and P(Bin(21, 1/2) <= 7) = 0.095.
    expect(computeMedianInterval(range(21))).toEqual({ low: 7, high: 15 });
  });

  it('spans all values if they are too few for the confidence', () => {
    expect(computeMedianInterval([3, 1, 2])).toEqual({ low: 1, high: 3 });
  });

  it('contains the median and is within the values', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1, maxLength: 60 }), (values) => {
        const { low, high } = computeMedianInterval(values);
        expect(low).toBeLessThanOrEqual(median(values));
        expect(high).toBeGreaterThanOrEqual(median(values));
        expect(values).toEqual(expect.arrayContaining([low, high]));
      }),
    );
  });

  it('contains the median of the distribution in at least 90 % of samples', () => {
    const next = createRandom(1);
    const samples = range(2_000).map(() => computeMedianInterval(range(21).map(next)));
    const containing = samples.filter(({ low, high }) => low <= 0.5 && high >= 0.5).length;
    expect(containing / samples.length).toBeGreaterThan(0.9);
  });
});

describe('percentile', () => {
  it('returns the smallest value that is not less than the share', () => {
    expect(percentile(range(100), 99)).toBe(99);
    expect(percentile(range(1_000), 99)).toBe(990);
    expect(percentile([5], 99)).toBe(5);
    expect(percentile([], 99)).toBeNaN();
  });
});

/** A linear congruential generator of numbers between 0 and 1. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}
