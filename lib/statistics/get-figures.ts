import type { CohortInterval, FiguresAmount, FiguresDimension } from '../api/figures.ts';
import type { StatsInterval } from '../api/stats.ts';
import { toUtcDay } from '../money/daily-rates.ts';
import { addDays, addMonths } from '../shared/calendar.ts';
import { indexByPeriod } from './counts.ts';
import { maxCohortPeriods } from './figure-names.ts';
import { type FigureSums, findProceedsSource } from './figure-sums.ts';
import { type FiguresDeps, readFigures } from './read-figures.ts';
import { parseStatsRange } from './stats-range.ts';
import { listIntervals } from './to-breakdown.ts';
import {
  type CohortContext,
  type CustomersByDay,
  countCustomers,
  getNextStart,
  listCohortStarts,
} from './to-cohorts.ts';

interface Query {
  readonly startdate?: string | undefined;
  readonly enddate?: string | undefined;
  readonly by?: FiguresDimension | undefined;
  readonly amount?: FiguresAmount | undefined;
  readonly limit?: number | undefined;
  readonly skip?: number | undefined;
  readonly offset?: number | undefined;
}

interface Head {
  readonly by: FiguresDimension;
  readonly amount: FiguresAmount;
}

/** Parses the range. The default is the last 31 days by day, otherwise the last 12 months. */
function parseRange({ startdate, enddate }: Query, isByDay: boolean, deps: FiguresDeps) {
  const last = enddate ?? toUtcDay(deps.now());
  const first = startdate ?? (isByDay ? undefined : `${addMonths(last.slice(0, 7), -11)}-01`);
  return parseStatsRange({ startdate: first, enddate: last }, deps.now())?.days;
}

/** Reads figures by interval. `buildRows` builds the rows of the app and of each group. */
export async function getIntervalFigures<Row>(
  appName: string,
  query: Query & { readonly interval?: StatsInterval | undefined },
  {
    deps,
    buildRows,
  }: {
    readonly deps: FiguresDeps;
    readonly buildRows: (
      sums: FigureSums,
      context: {
        readonly intervals: ReturnType<typeof listIntervals>;
        readonly today: string;
        readonly amount: FiguresAmount;
      },
    ) => Row[];
  },
) {
  const { interval = 'month', by = 'none', amount = 'after_refunds' } = query;
  const days = parseRange(query, interval === 'day', deps);
  const today = toUtcDay(deps.now());
  const intervals = days ? listIntervals(days, interval).filter(({ first }) => first <= today) : [];
  const [first = today] = intervals.map((entry) => entry.first);
  const requestedDay = intervals.at(-1)?.last ?? today;
  const lastDay = [requestedDay, today].sort()[0] ?? today;
  const month = first.slice(0, 7);
  const readings = await readFigures(
    appName,
    {
      range: { days: [`${month}-01`, lastDay], months: ['', addMonths(month, -1)] },
      by,
      page: query,
      rowsPerGroup: intervals.length,
    },
    deps,
  );
  const { total, groups } = readings;
  const build = (sums: FigureSums): Row[] => buildRows(sums, { intervals, today, amount });
  return {
    interval,
    ...buildHead({ by, amount }, readings),
    rows: build(total),
    ...(groups && { groups: groups.map((sums) => ({ ...sums.segment, rows: build(sums) })) }),
  };
}

/** The sums of a segment, with the sums of the app. */
interface CohortSums {
  readonly sums: FigureSums;
  readonly total: FigureSums;
  readonly customers: CustomersByDay;
}

/** Reads figures by cohort. `buildCohorts` builds the cohorts of the app and of each group. */
export async function getCohortFigures<Cohort>(
  appName: string,
  query: Query & { readonly interval?: CohortInterval | undefined },
  {
    deps,
    reads,
    buildCohorts,
  }: {
    readonly deps: FiguresDeps;
    /** Further counters that the cohorts need: customers, and the figures of days. */
    readonly reads: { readonly customers?: true; readonly days?: true };
    readonly buildCohorts: (sums: CohortSums, starts: readonly string[], context: CohortContext) => Cohort[];
  },
) {
  const { interval: unit = 'month', by = 'none', amount = 'after_refunds' } = query;
  const range = parseRange(query, false, deps);
  const now = deps.now();
  const today = toUtcDay(now);
  const starts = range ? listCohortStarts(range, unit, today) : [];
  const [first = today] = starts;
  const days = [first, addDays(getNextStart(starts.at(-1) ?? today, unit), -1)] as const;
  const [readings, customerDays] = await Promise.all([
    readFigures(
      appName,
      {
        // An import can have recorded payments before the customers of the cohort were stored.
        range: { ...(reads.days && { days }), months: [reads.customers ? '' : first.slice(0, 7), today.slice(0, 7)] },
        by,
        page: query,
        rowsPerGroup: starts.length * (reads.days ? 1 : Math.min(starts.length, maxCohortPeriods[unit])),
      },
      deps,
    ),
    reads.customers ? deps.counters.listDays(appName, ...days) : [],
  ]);
  const { total, groups } = readings;
  const customers = countCustomers(indexByPeriod(customerDays));
  const build = (sums: FigureSums): Cohort[] => buildCohorts({ sums, total, customers }, starts, { unit, amount, now });
  return {
    interval: unit,
    ...buildHead({ by, amount }, readings),
    cohorts: build(total),
    ...(groups && { groups: groups.map((sums) => ({ ...sums.segment, cohorts: build(sums) })) }),
  };
}

function buildHead({ by, amount }: Head, { total, products }: Awaited<ReturnType<typeof readFigures>>) {
  const proceedsSource = amount === 'proceeds' ? findProceedsSource([total]) : undefined;
  return { by, amount, ...(proceedsSource && { proceedsSource }), ...(products && { products }) };
}
