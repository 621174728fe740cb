import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { describeChange } from '../../console/pages/describe-change.ts';
import { listCountries } from '../../console/pages/figures/countries.ts';
import { definitions } from '../../console/pages/figures/definitions.ts';
import {
  chooseCohortRanges,
  getCohortEnd,
  getCohortStart,
  isAgeComplete,
} from '../../console/pages/figures/filters.ts';
import { readLoss, readRetention, sumPeriod } from '../../console/pages/figures/retention-sums.ts';
import { toIntervals } from '../../console/pages/periods.ts';
import { toCountry } from '../../lib/foundation/country.ts';

/** Text without marks of Markdown and line ends. */
const toPlain = (text: string): string => text.replace(/[`*]/g, '').replace(/\s+/g, ' ');

describe('definitions', () => {
  const read = (name: string) => toPlain(readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8'));
  const page = `${read('figures')} ${read('proceeds')}`;

  it.each(Object.entries(definitions))(
    'quotes docs/figures.md and docs/proceeds.md: %s',
    (_id, { paragraphs, differences }) => {
      const sentences = [...paragraphs.flatMap((text) => text.split(/(?<=\.) (?=[A-Z])/)), ...differences.flat()];
      expect(sentences.filter((sentence) => !page.includes(toPlain(sentence)))).toEqual([]);
    },
  );
});

describe('listCountries', () => {
  it('lists the countries of the service, each with a name', () => {
    const alphabet = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
    const known = alphabet.flatMap((a) => alphabet.map((b) => a + b)).filter((code) => toCountry(code) === code);
    const countries = listCountries();
    expect(countries.map(([code]) => code).sort()).toEqual(known);
    expect(countries.filter(([code, name]) => code === name)).toEqual([]);
  });
});

describe('chooseCohortRanges', () => {
  const day = fc
    .integer({ min: 0, max: 3_000 })
    .map((days) => new Date(Date.UTC(2020, 0, 1) + days * 86_400_000).toISOString().slice(0, 10));

  it('compares as many whole cohorts directly before', () => {
    fc.assert(
      fc.property(day, day, fc.constantFrom('week' as const, 'month' as const), (a, b, interval) => {
        const [first = '', last = ''] = [a, b].sort();
        const { current, previous, count } = chooseCohortRanges({ first, last }, interval);
        const countStarts = (range: { readonly first: string; readonly last: string }): number => {
          let starts = 0;
          for (let start = range.first; start <= range.last; start = nextDay(getCohortEnd(start, interval))) starts++;
          return starts;
        };
        expect(current.first).toBe(getCohortStart(first, interval));
        expect(nextDay(previous.last)).toBe(current.first);
        expect(previous.first).toBe(getCohortStart(previous.first, interval));
        expect([countStarts(current), countStarts(previous)]).toEqual([count, count]);
      }),
    );
  });
});

const nextDay = (day: string): string => new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);

describe('isAgeComplete', () => {
  it('waits until the month has ended for the customers of the last day', () => {
    // The customers of January 31 are in month 0 until the end of February.
    expect(isAgeComplete('2026-01-01', 'month', 0, Date.parse('2026-02-28T23:59:59Z'))).toBe(false);
    expect(isAgeComplete('2026-01-01', 'month', 0, Date.parse('2026-03-01T00:00:00Z'))).toBe(true);
  });
});

describe('retention sums', () => {
  const toCohort = (actives: readonly number[], completePeriods: number) => ({
    start: '2026-01-01',
    size: actives[0] ?? 0,
    completePeriods,
    periods: actives.map((active, index) => ({ index, active, rate: 0, revenueUSD: 0 })),
  });

  it('weights cohorts by their size, and leaves out those that still change', () => {
    const cohorts = [toCohort([10, 5], 2), toCohort([30, 27], 2), toCohort([100, 1], 1)];
    expect(readRetention(1)(cohorts)).toBe(32 / 40);
    expect(readLoss(cohorts, 1)).toEqual({ before: 40, lost: 8, share: 0.2 });
  });

  it('waits with the revenue of a period until the middle of the next one', () => {
    const cohorts = [toCohort([10, 9, 8], 3), toCohort([10, 9], 2)];
    expect(sumPeriod(cohorts, 1, 2)).toMatchObject({ size: 10, isComplete: true });
    expect(sumPeriod(cohorts, 2, 3)).toMatchObject({ size: 10, isComplete: false });
  });

  it('returns none instead of 0 without a complete cohort', () => {
    expect(readRetention(1)([toCohort([10, 0], 1), toCohort([0, 0], 2)])).toBeUndefined();
    expect(readLoss([toCohort([10, 0, 0], 3)], 2)).toBeUndefined();
  });
});

describe('toIntervals', () => {
  it('ends the last interval with the range or today', () => {
    const now = Date.parse('2026-02-10T12:00:00Z');
    expect(toIntervals(['2026-01-05', '2026-02-01'], { first: '2026-01-05', last: '2026-02-28' }, now)).toEqual([
      { date: '2026-01-05', enddate: '2026-01-31' },
      { date: '2026-02-01', enddate: '2026-02-10' },
    ]);
  });
});

describe('describeChange', () => {
  const format = String;
  it.each([
    [0, 0, '0 in the 7 days before'],
    [3, 0, '0 in the 7 days before'],
    [3, 3, 'Also 3 in the 7 days before'],
    [3, 2, '+50% from 2'],
    [0, 2, '-100% from 2'],
  ])('compares %p with %p', (current, previous, text) => {
    expect(describeChange({ current, previous, format, label: 'the 7 days before' })).toBe(text);
  });

  it.each([
    [0, 3, 2, '0 until yesterday, 2 in the 7 days before'],
    [0, 0, 2, '-100% from 2'],
    [1, 3, 2, '-50% from 2'],
    [0, 3, 0, '0 in the 7 days before'],
  ])('compares %p, and %p with today, with %p', (current, shown, previous, text) => {
    expect(describeChange({ current, shown, previous, format, label: 'the 7 days before' })).toBe(text);
  });
});
