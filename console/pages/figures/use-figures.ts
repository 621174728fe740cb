import type * as v from 'valibot';
import type { Contract } from '../../../lib/api/contract.ts';
import type { StatsInterval } from '../../../lib/statistics/breakdown-contract.ts';
import type { CohortInterval } from '../../../lib/statistics/cohort-contract.ts';
import type { Endpoint } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';
import { useNow } from '../../clock.ts';
import { formatNumber } from '../../format.ts';
import type { RouteQuery } from '../../router.tsx';
import {
  chooseInterval,
  describeRange,
  intervals,
  listIncomplete,
  type Range,
  toChartDays,
  toDay,
  toIntervals,
} from '../periods.ts';
import { buildFiguresView, type FiguresResponse, type FiguresView } from './figures-view.ts';
import {
  chooseCohortInterval,
  chooseCohortRanges,
  cohortIntervals,
  type FiguresFilters,
  getCohortEnd,
  readFilters,
  toCohortName,
  toFiguresRequest,
} from './filters.ts';

/** The figures of a page with its choices: the properties of its parts. */
export interface PageFigures<Item, Interval extends StatsInterval = StatsInterval> {
  readonly query: RouteQuery;
  readonly filters: FiguresFilters;
  readonly interval: Interval;
  readonly intervals: readonly { readonly id: Interval; readonly label: string }[];
  /** Shown days. */
  readonly range: Range;
  /** Name of the days or cohorts before in a sentence. */
  readonly label: string | undefined;
  /** Sentence about the comparison. */
  readonly comparison: string | undefined;
  readonly view: FiguresView<Item>;
  /** Positions of the intervals or cohorts in charts, those that are not complete, and their days. */
  readonly days: readonly string[];
  readonly incomplete: readonly number[];
  readonly ranges: readonly Range[];
}

type FiguresQuery = Readonly<Partial<Record<keyof NonNullable<ReturnType<typeof toFiguresRequest>>['query'], unknown>>>;

interface FiguresContract<Item> extends Contract {
  readonly params?: never;
  readonly query: v.GenericSchema<FiguresQuery, unknown>;
  readonly body?: never;
  readonly response: v.GenericSchema<FiguresResponse<Item>, unknown>;
}

/** Loads figures of the period's days, and of its complete days and as many before, which are compared. */
export function useFigures<Item extends { readonly date: string }>(
  endpoint: Endpoint<FiguresContract<Item>>,
  query: RouteQuery,
  fixed: Partial<FiguresFilters> = {},
): PageFigures<Item, (typeof intervals)[number]['id']> {
  const now = useNow();
  const filters = { ...readFilters(query, now), ...fixed };
  const { current: range, complete, previous, label } = filters.period;
  const interval = chooseInterval(query.interval, filters.period);
  const current = useApi(endpoint, toFiguresRequest(range, filters, interval));
  const view = buildFiguresView(
    {
      current,
      complete: useApi(endpoint, toFiguresRequest(complete, filters, 'range')),
      previous: useApi(endpoint, toFiguresRequest(previous, filters, 'range')),
    },
    filters.by,
  );
  const parts = toIntervals(
    (view.items ?? []).map(({ date }) => date),
    range,
    now,
  );
  const shown = current.data?.interval ?? interval;
  return {
    query,
    filters,
    interval,
    intervals,
    range,
    label,
    comparison: complete && previous && `Changes compare ${describeRange(complete)} with ${describeRange(previous)}.`,
    view,
    days: toChartDays(parts, shown),
    incomplete: listIncomplete(parts, shown, now),
    ranges: parts.map(({ date, enddate }) => ({ first: date, last: enddate })),
  };
}

/** Loads figures of the cohorts that start in the period, and of as many before, which are compared. */
export function useCohortFigures<Item extends { readonly start: string }>(
  endpoint: Endpoint<FiguresContract<Item>>,
  query: RouteQuery,
): PageFigures<Item, CohortInterval> {
  const now = useNow();
  const filters = readFilters(query, now);
  const interval = chooseCohortInterval(query.interval);
  const { current: range, previous, count } = chooseCohortRanges(filters.period.current, interval);
  const current = useApi(endpoint, toFiguresRequest(range, filters, interval));
  const before = useApi(endpoint, toFiguresRequest(previous, filters, interval));
  const view = buildFiguresView({ current, complete: current, previous: before }, filters.by);
  const ranges = (view.items ?? []).map(({ start }) => ({ first: start, last: getCohortEnd(start, interval) }));
  return {
    query,
    filters,
    interval,
    intervals: cohortIntervals,
    range,
    label: `the ${formatNumber(count)} cohorts before`,
    comparison: `Changes compare with the cohorts of ${describeRange(previous)}.`,
    view,
    days: ranges.map(({ first }) => toCohortName(first, interval)),
    incomplete: ranges.flatMap(({ last }, index) => (last >= toDay(now) ? index : [])),
    ranges,
  };
}
