import type { StatsInterval } from '../../../lib/statistics/breakdown-contract.ts';
import type { CohortInterval } from '../../../lib/statistics/cohort-contract.ts';
import { showsSandbox, toSandboxQuery } from '../../sandbox.ts';
import { parseSkip } from '../parse-skip.ts';
import { addDays, addMonths, choosePeriod, countDays, type Period, type Range } from '../periods.ts';
import type { Segment } from './segments.ts';

/** Dimensions of figures, with their names. */
export const dimensions = [
  { id: 'none', label: 'Total' },
  { id: 'platform', label: 'Store' },
  { id: 'product', label: 'Product' },
  { id: 'country', label: 'Country' },
  { id: 'entitlement', label: 'Entitlement' },
] as const;

export const nameDimension = (by: (typeof dimensions)[number]['id']): string =>
  dimensions.find(({ id }) => id === by)?.label ?? '';

export const amounts = [
  ['after_refunds', 'After refunds'],
  ['before_refunds', 'Before refunds'],
  ['proceeds', 'Proceeds'],
] as const;

export const cohortIntervals = [
  { id: 'week', label: 'By week' },
  { id: 'month', label: 'By month' },
] as const satisfies readonly { readonly id: CohortInterval; readonly label: string }[];

/** The choices of a page of figures. All of them are in the link. */
export interface FiguresFilters {
  readonly period: Period;
  readonly by: (typeof dimensions)[number]['id'];
  /** Undefined for figures with all amounts. */
  readonly amount: (typeof amounts)[number][0] | undefined;
  /** Only payments that match each of them are counted. */
  readonly segment: Segment;
  readonly isSandbox: boolean;
  /** Position of the page of products. */
  readonly skip: number;
}

/** Reads the filters from the query of the link. The default are 12 months. */
export const readFilters = (query: Readonly<Record<string, string | undefined>>, now: number): FiguresFilters => ({
  period: choosePeriod({ ...query, period: query.period ?? '12m' }, now),
  by: dimensions.find(({ id }) => id === query.by)?.id ?? 'none',
  amount: amounts.find(([id]) => id === query.amount)?.[0] ?? 'after_refunds',
  segment: {
    ...(query.platform && { platform: query.platform }),
    ...(query.product && { productId: query.product }),
    ...(query.country && { country: query.country }),
    ...(query.entitlement && { entitlement: query.entitlement }),
  },
  isSandbox: showsSandbox(query),
  skip: parseSkip(query.skip, 1),
});

export const chooseCohortInterval = (id: string | undefined): CohortInterval => (id === 'week' ? 'week' : 'month');

/** Builds the request of a range. Without a range, there is none. */
export const toFiguresRequest = <Interval extends StatsInterval>(
  range: Range | undefined,
  { by, amount, segment: { productId: product, ...segment }, isSandbox, skip }: FiguresFilters,
  interval: Interval,
) => {
  if (!range) return undefined;
  const page = by === 'product' && skip > 0 ? { skip } : {};
  return {
    query: {
      startdate: range.first,
      enddate: range.last,
      interval,
      by,
      amount,
      product,
      ...segment,
      ...toSandboxQuery(isSandbox),
      ...page,
    },
  };
};

/** Returns the first day of the week (Monday) or month that contains a day. */
export const getCohortStart = (day: string, interval: CohortInterval): string =>
  interval === 'month' ? `${day.slice(0, 7)}-01` : addDays(day, -((new Date(day).getUTCDay() + 6) % 7));

const shiftCohort = (start: string, interval: CohortInterval, count: number): string =>
  interval === 'month' ? addMonths(start, count) : addDays(start, 7 * count);

/** Returns the name of a cohort: its month, or the first day of its week. */
export const toCohortName = (start: string, interval: CohortInterval): string =>
  interval === 'month' ? start.slice(0, 7) : start;

/** Returns the last day of a cohort that starts on a day. */
export const getCohortEnd = (start: string, interval: CohortInterval): string =>
  addDays(shiftCohort(start, interval, 1), -1);

interface CohortRanges {
  readonly current: Range;
  /** As many whole cohorts directly before. */
  readonly previous: Range;
  readonly count: number;
}

/** Returns the days of the cohorts that start in a range, from the first day of the first one. */
export function chooseCohortRanges({ first, last }: Range, interval: CohortInterval): CohortRanges {
  const start = getCohortStart(first, interval);
  const end = getCohortStart(last, interval);
  const count =
    interval === 'week'
      ? (countDays({ first: start, last: end }) - 1) / 7 + 1
      : (new Date(end).getUTCFullYear() - new Date(start).getUTCFullYear()) * 12 +
        new Date(end).getUTCMonth() -
        new Date(start).getUTCMonth() +
        1;
  return {
    current: { first: start, last },
    previous: { first: shiftCohort(start, interval, -count), last: addDays(start, -1) },
    count,
  };
}

/** Returns whether a month of the age of a cohort of customers has ended for all of them. */
export const isAgeComplete = (start: string, interval: CohortInterval, month: number, now: number): boolean => {
  const nextStart = shiftCohort(start, interval, 1);
  return Date.parse(addMonthsToDay(nextStart, month + 1)) <= now;
};

/** Adds calendar months. A day that the month does not have becomes the first day of the next one. */
function addMonthsToDay(day: string, months: number): string {
  const date = new Date(day);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, date.getUTCDate()))
    .toISOString()
    .slice(0, 10);
}
