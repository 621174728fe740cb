import type { CohortInterval } from '../../../lib/statistics/cohort-contract.ts';
import { useNow } from '../../clock.ts';
import { formatNumber } from '../../format.ts';
import type { PageProps } from '../page.ts';
import { describeRange, type Range, toDay } from '../periods.ts';
import { chooseCohortInterval, chooseCohortRanges, type FiguresFilters, getCohortEnd, readFilters } from './filters.ts';

interface CohortChoice {
  readonly filters: FiguresFilters;
  readonly interval: CohortInterval;
  readonly current: Range;
  readonly previous: Range;
  /** Name of the cohorts before in a sentence. */
  readonly label: string;
  readonly comparison: string;
  readonly now: number;
}

/** Reads the cohorts of the link: those that start in the period, and as many before. */
export function useCohortChoice(query: PageProps['query']): CohortChoice {
  const now = useNow();
  const filters = readFilters(query, now);
  const interval = chooseCohortInterval(query.interval);
  const { current, previous, count } = chooseCohortRanges(filters.period.current, interval);
  return {
    filters,
    interval,
    current,
    previous,
    label: `the ${formatNumber(count)} cohorts before`,
    comparison: `Changes compare with the cohorts of ${describeRange(previous)}.`,
    now,
  };
}

/** Returns the name of a cohort: its month, or the first day of its week. */
export const toCohortName = (start: string, interval: CohortInterval): string =>
  interval === 'month' ? start.slice(0, 7) : start;

/** Days or months of cohorts in charts, and the cohorts that have not ended. */
export const toCohortAxis = (
  cohorts: readonly { readonly start: string }[],
  { interval, now }: Pick<CohortChoice, 'interval' | 'now'>,
) => ({
  days: cohorts.map(({ start }) => toCohortName(start, interval)),
  incomplete: cohorts.flatMap(({ start }, index) => (getCohortEnd(start, interval) >= toDay(now) ? index : [])),
});
