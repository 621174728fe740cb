import { addDays, addMonths, getLastDay, listMonths } from '../foundation/calendar.ts';
import type { StatsInterval } from './breakdown-contract.ts';
import type { FigureRange } from './read-figures.ts';

interface Interval {
  readonly first: string;
  readonly last: string;
}

interface ReadPlan {
  readonly range: FigureRange;
  /** Months whose sums are read instead of the sums of their days. */
  readonly wholeMonths: ReadonlySet<string>;
}

/**
 * Plans the counters that the intervals need: all earlier months for the recurring revenue at the start (`hasOpening`),
 * and each month that is over and lies in one interval. Other months are read by day, because the ends of today do not
 * count yet.
 */
export function planReads(
  intervals: readonly Interval[],
  {
    interval,
    today,
    hasOpening,
  }: { readonly interval: StatsInterval; readonly today: string; readonly hasOpening: boolean },
): ReadPlan {
  const [first = today] = intervals.map((entry) => entry.first);
  const requestedDay = intervals.at(-1)?.last ?? today;
  const lastDay = requestedDay < today ? requestedDay : today;
  const [firstMonth, thisMonth] = [first.slice(0, 7), today.slice(0, 7)];
  const hasWholeMonths = interval !== 'day' && interval !== 'week';
  const isWhole = (month: string): boolean =>
    hasWholeMonths && month < thisMonth && first <= `${month}-01` && lastDay >= getLastDay(month);
  const months = listMonths(firstMonth, lastDay.slice(0, 7));
  const wholeMonths = months.filter(isWhole);
  const days = months
    .filter((month) => !isWhole(month))
    .map((month) => [`${month}-01`, month === lastDay.slice(0, 7) ? lastDay : getLastDay(month)] as const);
  return {
    range: {
      days: joinRanges(days),
      months: [hasOpening ? '' : firstMonth, wholeMonths.at(-1) ?? addMonths(firstMonth, -1)],
    },
    wholeMonths: new Set(wholeMonths),
  };
}

/** Joins ranges of days of which each one starts with the day after the one before it. */
function joinRanges(ranges: readonly (readonly [string, string])[]): (readonly [string, string])[] {
  const joined: (readonly [string, string])[] = [];
  for (const [first, last] of ranges) {
    const before = joined.at(-1);
    if (before && addDays(before[1], 1) === first) joined[joined.length - 1] = [before[0], last];
    else joined.push([first, last]);
  }
  return joined;
}
