import { describe, expect, it } from '@jest/globals';
import { fitSlope } from '../../../bench/linear-fit.ts';
import { sendLoad, summarizeTimes } from '../../../bench/load/send-load.ts';
import { listMinima } from '../../../bench/load.ts';

describe('sendLoad', () => {
  it('starts every call once and counts the failed ones', async () => {
    const numbers: number[] = [];
    const step = await sendLoad({ rate: 10_000, count: 20 }, async (number) => {
      numbers.push(number);
      if (number % 4 === 0) throw new Error('rejected');
    });
    expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_value, index) => index));
    expect(step).toMatchObject({ rate: 10_000, errors: 5 });
    expect(step.timesMs).toHaveLength(15);
  });

  it('starts calls while earlier ones are waiting', async () => {
    let release = (): void => {};
    const last = new Promise<void>((resolve) => {
      release = resolve;
    });
    const step = await sendLoad({ rate: 10_000, count: 3 }, async (number) => {
      if (number === 2) release();
      await last;
    });
    expect(step.timesMs).toHaveLength(3);
  });
});

describe('summarizeTimes', () => {
  it('returns median, 99th percentile and maximum', () => {
    const times = Array.from({ length: 1_000 }, (_value, index) => index + 1);
    expect(summarizeTimes(times)).toEqual({ 'p50 ms': 501, 'p99 ms': 990, 'max ms': 1_000 });
  });

  it('returns empty texts without times', () => {
    expect(summarizeTimes([])).toEqual({ 'p50 ms': '', 'p99 ms': '', 'max ms': '' });
  });
});

describe('fitSlope', () => {
  it('returns the growth of a line with any start', () => {
    expect(fitSlope([1, 2, 3, 10].map((x) => ({ x, y: 500 - 3 * x })))).toBeCloseTo(-3, 10);
  });

  it('averages noise around a constant', () => {
    expect(fitSlope([0, 1, 2, 3].map((x) => ({ x, y: x === 0 || x === 3 ? 10 : 11 })))).toBeCloseTo(0, 10);
  });

  it('returns NaN for a single time', () => {
    expect(fitSlope([{ x: 1, y: 1 }])).toBeNaN();
  });
});

describe('listMinima', () => {
  it('ignores memory that Node releases within the minute', () => {
    const samples = [0, 20_000, 40_000, 60_000, 80_000].map((x, index) => ({
      x,
      y: [900, 800, 950, 990, 810][index] ?? 0,
    }));
    expect(listMinima(samples)).toEqual([
      { x: 20_000, y: 800 },
      { x: 80_000, y: 810 },
    ]);
  });
});
