import { describe, expect, it } from '@jest/globals';
import { choosePeriod, countDays, listIncomplete, recentPeriods, toChartDays } from '../../console/pages/periods.ts';

const now = Date.parse('2026-11-24T00:30:00Z');

describe('choosePeriod', () => {
  it.each([...recentPeriods, 'quarter'].filter((id) => id !== 'custom'))('compares complete days only for %s', (id) => {
    expect(choosePeriod({ period: id }, now)).toMatchObject({
      current: { last: '2026-11-24' },
      complete: { last: '2026-11-23' },
    });
  });

  it('compares as many days as are complete, directly before the period', () => {
    for (let day = 0; day < 800; day++)
      for (const id of recentPeriods) {
        const { current, complete, previous } = choosePeriod({ period: id }, now + day * 86_400_000);
        if (!complete || !previous) throw new Error('There are complete days.');
        expect(countDays(previous)).toBe(countDays(complete));
        expect(complete.first).toBe(current.first);
        expect(Date.parse(previous.last)).toBe(Date.parse(current.first) - 86_400_000);
      }
  });

  it('compares all days of a period in the past', () => {
    const period = choosePeriod({ period: 'custom', from: '2026-02-01', to: '2026-02-28' }, now);
    expect(period.complete).toEqual(period.current);
    expect(period.previous).toEqual({ first: '2026-01-04', last: '2026-01-31' });
  });

  it.each([
    ['quarter', '2026-11-24', ['2026-10-01', '2026-11-24'], ['2026-07-01', '2026-08-23']],
    ['last-quarter', '2026-11-24', ['2026-07-01', '2026-09-30'], ['2026-04-01', '2026-06-30']],
    // The quarter before has fewer days.
    ['quarter', '2026-06-30', ['2026-04-01', '2026-06-30'], ['2026-01-01', '2026-03-31']],
    ['last-quarter', '2026-01-01', ['2025-10-01', '2025-12-31'], ['2025-07-01', '2025-09-30']],
  ])('compares %s on %s with the quarter before', (id, today, [first, last], [start, end]) => {
    const { current, previous } = choosePeriod({ period: id }, Date.parse(today));
    expect([current, previous]).toEqual([
      { first, last },
      { first: start, last: end },
    ]);
  });

  it('returns no comparison if no day is complete', () => {
    const { complete, previous } = choosePeriod({ period: 'custom', from: '2026-11-24', to: '2026-11-24' }, now);
    expect([complete, previous]).toEqual([undefined, undefined]);
  });

  it.each([
    { from: 'x', to: '2026-13-45' },
    { from: '2026-12-01', to: '2026-11-24' },
  ])('selects 30 days for the invalid days %p', (days) => {
    expect(countDays(choosePeriod({ period: 'custom', ...days }, now).current)).toBe(30);
  });
});

describe('listIncomplete', () => {
  it.each([
    [
      'day',
      [
        ['2026-11-23', '2026-11-23'],
        ['2026-11-24', '2026-11-24'],
      ],
      [1],
    ],
    [
      'week',
      [
        ['2026-11-12', '2026-11-15'],
        ['2026-11-16', '2026-11-22'],
        ['2026-11-23', '2026-11-24'],
      ],
      [0, 2],
    ],
    [
      'month',
      [
        ['2026-09-02', '2026-09-30'],
        ['2026-10-01', '2026-10-31'],
        ['2026-11-01', '2026-11-24'],
      ],
      [0, 2],
    ],
  ] as const)('marks the cut and the current %s', (interval, rows, positions) => {
    const records = rows.map(([date, enddate]) => ({ date, enddate }));
    expect(listIncomplete(records, interval, now)).toEqual(positions);
  });
});

describe('toChartDays', () => {
  it.each([
    ['day', '2026-07-01'],
    ['month', '2026-07'],
    ['quarter', '2026-Q3'],
  ] as const)('names an interval by %s', (interval, name) => {
    expect(toChartDays([{ date: '2026-07-01' }], interval)).toEqual([name]);
  });
});
