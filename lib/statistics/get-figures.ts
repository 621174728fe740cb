import { addDays, addMonths } from '../foundation/calendar.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { Service } from '../foundation/service.ts';
import { toUtcDay } from '../money/rates.ts';
import type { StatsInterval } from './breakdown-contract.ts';
import type { CohortInterval } from './cohort-contract.ts';
import { readCountedUntil } from './counted-until-table.ts';
import { maxCohortPeriods } from './counter-names.ts';
import { listCounterDays, listCounterMonths } from './counter-table.ts';
import { indexByPeriod } from './counts.ts';
import { type FigureSums, sumCounts, summarizePayments } from './figure-sums.ts';
import type { FigureFilters, FiguresAmount, FiguresDimension } from './figures-contract.ts';
import { planReads } from './plan-reads.ts';
import { readFigures } from './read-figures.ts';
import { parseStatsRange } from './stats-range.ts';
import { listIntervals } from './to-breakdown.ts';
import { type CohortContext, type CohortSums, countCustomers, getNextStart, listCohortStarts } from './to-cohorts.ts';
import type { MovementContext } from './to-movement.ts';
import { buildRevenueRows, summarizeRevenue } from './to-revenue.ts';
import { roundToCents, toExactUsd } from './to-stats.ts';

interface Query extends FilterQuery {
  readonly startdate?: string | undefined;
  readonly enddate?: string | undefined;
  readonly by?: FiguresDimension | undefined;
  readonly amount?: FiguresAmount | undefined;
  readonly sandbox?: 'true' | 'false' | undefined;
  readonly limit?: number | undefined;
  readonly skip?: number | undefined;
  readonly offset?: number | undefined;
}

type FilterQuery = { readonly [Name in keyof FigureFilters]: FigureFilters[Name] | undefined };

interface Head {
  readonly by: FiguresDimension;
  readonly amount: FiguresAmount;
}

/** Returns the filters of the response. Empty without any. */
const pickFilters = ({ platform, product, country, entitlement }: FilterQuery): FigureFilters =>
  omitUndefined({ platform, product, country, entitlement });

const buildFilters = (filters: FigureFilters) => (Object.keys(filters).length > 0 ? { filters } : {});

/** Parses the range. The default is the last 31 days by day, otherwise the last 12 months. */
function parseRange(service: Service, { startdate, enddate }: Query, isByDay: boolean) {
  const last = enddate ?? toUtcDay(service.now());
  const first = startdate ?? (isByDay ? undefined : `${addMonths(last.slice(0, 7), -11)}-01`);
  return parseStatsRange({ startdate: first, enddate: last }, service.now())?.days;
}

type IntervalQuery = Query & { readonly interval?: StatsInterval | undefined };

/** Reads the sums of the intervals that have started, and of all months before them if they have running totals. */
async function readIntervals(service: Service, appName: string, query: IntervalQuery, hasOpening: boolean) {
  const { interval = 'month', by = 'none' } = query;
  const days = parseRange(service, query, interval === 'day');
  const today = toUtcDay(service.now());
  const intervals = days ? listIntervals(days, interval).filter(({ first }) => first <= today) : [];
  const { range, wholeMonths } = planReads(intervals, { interval, today, hasOpening });
  const isSandbox = query.sandbox === 'true';
  const filters = pickFilters(query);
  // Before the counters, which contain at least what was counted then.
  const countedUntil = await readCountedUntil(service);
  const readings = await readFigures(service, appName, {
    range,
    by,
    filters,
    isSandbox,
    page: query,
    rowsPerGroup: intervals.length,
    hasCohorts: false,
  });
  const context = { intervals, wholeMonths, today };
  return { countedUntil, interval, by, ...buildFilters(filters), readings, context };
}

/** Reads figures by interval. `buildRows` builds the rows of the app and of each group. */
export async function getIntervalFigures<Row>(
  service: Service,
  appName: string,
  query: IntervalQuery,
  buildRows: (sums: FigureSums, context: MovementContext) => Row[],
) {
  const { amount = 'after_refunds' } = query;
  const { readings, context, by, ...head } = await readIntervals(service, appName, query, true);
  const { total, groups } = readings;
  const build = (sums: FigureSums) => ({
    ...buildTotals(context, (range) => buildRows(sums, { ...range, amount, toUsd: toExactUsd })),
    rows: buildRows(sums, { ...context, amount, toUsd: roundToCents }),
  });
  return {
    ...head,
    ...buildHead({ by, amount }, readings),
    ...build(total),
    ...(groups && { groups: groups.map((sums) => ({ ...buildGroup(sums), ...build(sums) })) }),
  };
}

type IntervalContext = Omit<MovementContext, 'amount' | 'toUsd'>;

/** Builds the row of the whole range. */
function buildTotals<Row>(context: IntervalContext, buildRows: (context: IntervalContext) => Row[]) {
  const [first, last] = [context.intervals[0], context.intervals.at(-1)];
  const intervals = first && last ? [{ first: first.first, last: last.last }] : [];
  const [totals] = buildRows({ ...context, intervals });
  return totals === undefined ? {} : { totals };
}

/** Reads payments and refunds by interval. */
export async function getRevenueFigures(service: Service, appName: string, query: Omit<IntervalQuery, 'amount'>) {
  const { readings, context, ...head } = await readIntervals(service, appName, query, false);
  const { total, groups, products } = readings;
  const sumPayments = (sums: FigureSums) => summarizeRevenue(sums, context);
  const build = (sums: FigureSums) => ({
    ...buildTotals(context, (range) => buildRevenueRows(sums, range)),
    rows: buildRevenueRows(sums, context),
  });
  const { proceedsSource, unconvertedShare } = sumPayments(total);
  return {
    ...head,
    ...(proceedsSource && { proceedsSource }),
    unconvertedShare,
    ...(products && { products }),
    ...build(total),
    ...(groups && {
      groups: groups.map((sums) => ({
        ...sums.segment,
        unconvertedShare: sumPayments(sums).unconvertedShare,
        ...build(sums),
      })),
    }),
  };
}

/** Reads figures by cohort. `buildCohorts` builds the cohorts of the app and of each group. */
export async function getCohortFigures<Cohort>(
  service: Service,
  appName: string,
  query: Query & { readonly interval?: CohortInterval | undefined },
  {
    reads,
    buildCohorts,
  }: {
    /** Further counters that the cohorts need: customers, and the figures of their days or months. */
    readonly reads: { readonly customers?: true; readonly days?: true };
    readonly buildCohorts: (sums: CohortSums, starts: readonly string[], context: CohortContext) => Cohort[];
  },
) {
  const { interval: unit = 'month', by = 'none', amount = 'after_refunds' } = query;
  const range = parseRange(service, query, false);
  const now = service.now();
  const today = toUtcDay(now);
  const filters = pickFilters(query);
  const starts = range ? listCohortStarts(range, unit, today) : [];
  const [first = today] = starts;
  const days = [first, addDays(getNextStart(starts.at(-1) ?? today, unit), -1)] as const;
  const readsDays = unit === 'week';
  const readCustomers = async () =>
    readsDays
      ? await listCounterDays(service, appName, { days })
      : await listCounterMonths(service, appName, { months: [first.slice(0, 7), days[1].slice(0, 7)] });
  const countedUntil = await readCountedUntil(service);
  const [readings, customerPeriods] = await Promise.all([
    readFigures(service, appName, {
      range: { days: reads.days && readsDays ? [days] : [], months: [first.slice(0, 7), today.slice(0, 7)] },
      by,
      filters,
      isSandbox: query.sandbox === 'true',
      hasCohorts: true,
      page: query,
      rowsPerGroup: starts.length * (reads.days ? 1 : Math.min(starts.length, maxCohortPeriods[unit])),
    }),
    reads.customers ? readCustomers() : [],
  ]);
  const { app, total, groups } = readings;
  const customers = countCustomers(indexByPeriod(customerPeriods));
  const totals = sumCounts(app.months.values());
  const build = (sums: FigureSums): Cohort[] => {
    const counts = sums === app ? totals : sumCounts(sums.months.values());
    return buildCohorts({ sums, counts, totals, customers }, starts, { unit, amount, now });
  };
  return {
    countedUntil,
    interval: unit,
    ...buildFilters(filters),
    ...buildHead({ by, amount }, readings),
    cohorts: build(total),
    ...(groups && { groups: groups.map((sums) => ({ ...buildGroup(sums), cohorts: build(sums) })) }),
  };
}

function buildHead({ by, amount }: Head, { total, products }: Awaited<ReturnType<typeof readFigures>>) {
  const { proceedsSource, unconvertedShare } = summarizePayments(total);
  return {
    by,
    amount,
    ...(amount === 'proceeds' && proceedsSource && { proceedsSource }),
    unconvertedShare,
    ...(products && { products }),
  };
}

const buildGroup = (sums: FigureSums) => ({
  ...sums.segment,
  unconvertedShare: summarizePayments(sums).unconvertedShare,
});
