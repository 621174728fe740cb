import pMap from 'p-map';
import { addDays, isDay, listDays, listMonths } from '../foundation/calendar.ts';
import { ServiceError } from '../foundation/errors.ts';
import type { ReportProgress } from '../foundation/progress.ts';
import type { Service } from '../foundation/service.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { toUtcDay } from '../money/rates.ts';
import { findOldestEventDate, scanCountableItems } from '../purchases/app-item-table.ts';
import { type FigureCounts, sumFigureCounts } from './count-figures.ts';
import { counterScopes, sumDailyCounts } from './count-item.ts';
import { pickRunningTotals, sumProductCounts } from './count-product.ts';
import type { CounterGroup, Product } from './counter-key.ts';
import { isEventName } from './counter-names.ts';
import {
  type CounterPeriod,
  listCountedProducts,
  listCounterDays,
  listCounterMonths,
  replaceCounts,
} from './counter-table.ts';
import { addCounts, type Counts, collapseHours, indexByPeriod } from './counts.ts';

/** Days as `YYYY-MM-DD`, both included. */
type DayRange = readonly [first: string, last: string];
type CountsByPeriod = ReadonlyMap<string, Counts>;
interface RecountOptions {
  /** Called after the counters are read, to wait until the indexes contain all items that are counted. */
  readonly waitForIndex?: () => Promise<void>;
  /** Receives the number of items that are counted. */
  readonly reportProgress?: ReportProgress;
}

/** A counter that differs from the items in the table. */
export interface CounterDifference {
  /** `YYYY-MM-DD` or `YYYY-MM`. */
  readonly period: string;
  /** Undefined for a counter of the whole app. */
  readonly product?: Product;
  /** Undefined for a counter of statistics. */
  readonly kind?: FigureCounts['kind'];
  /** Only set for a counter of a cell. */
  readonly country?: string;
  readonly isSandbox?: boolean;
  /** Version of the counter that was compared. */
  readonly version: number;
  readonly recounted: Counts;
  /** The recounted counts minus the counter's counts. */
  readonly change: Counts;
}

/**
 * DynamoDB deletes expired items within a few days, in any order. Until then, the events of a day may be incomplete.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html
 */
const ttlDeletionLagDays = 4;

/** Number of products whose counters are read concurrently. */
const concurrency = 8;

/**
 * Compares the counters of the app and its products with the items in the table: the days, and the months that are
 * completely in the range.
 */
export async function recount(
  service: Service,
  appName: string,
  days: DayRange,
  { waitForIndex, reportProgress }: RecountOptions = {},
): Promise<CounterDifference[]> {
  const products = await listCountedProducts(service, appName);
  const groups = counterScopes.flatMap(({ isSandbox }): CounterGroup[] => [
    { isSandbox },
    { isSandbox, kind: 'platforms' },
    { isSandbox, kind: 'countries' },
    { isSandbox, kind: 'credits' },
    ...products.flatMap((product): CounterGroup[] => [
      { isSandbox, product },
      { isSandbox, product, kind: 'product' },
      { isSandbox, product, kind: 'cells' },
      { isSandbox, product, kind: 'cohorts' },
    ]),
  ]);
  const readings = await pMap(groups, async (group) => await readCounters(service, appName, { days, group }), {
    concurrency,
  });
  const groupCounters = new Map(readings.flat());
  await waitForIndex?.();
  const counted = indexByPeriod(groupCounters.get(appKey)?.days ?? []);
  const recounted = await recountDays(service, appName, { days, counted, reportProgress });
  const months = listWholeMonths(days);
  return [...new Set([...groupCounters.keys(), ...recounted.keys()])].flatMap((key) => {
    const group = parseGroupKey(key);
    const counters = groupCounters.get(key) ?? { days: [], months: [] };
    const counts = recounted.get(key) ?? new Map<string, Counts>();
    const recountedDays = [...counts.keys()].filter(isDay);
    const countedDays = [...new Set([...counters.days.map(({ period }) => period), ...recountedDays])].sort();
    // The figures of a month also have sums that its days lack.
    const countsByMonth = group.kind ? counts : sumByMonth(counts, toMonthCounts(group));
    const differences = [
      ...findDifferences(countedDays, counters.days, counts),
      ...findDifferences(months, counters.months, countsByMonth),
    ];
    return differences.map((difference) => ({ ...difference, ...group }));
  });
}

type CounterReadings = readonly CounterPeriod[];

/** Reads the counters of a group by `toGroupKey`: the cells of a product have a group for each country. */
async function readCounters(
  service: Service,
  appName: string,
  { days: range, group }: { days: DayRange; group: CounterGroup },
) {
  const wholeMonths = listWholeMonths(range);
  const [first, last] = [wholeMonths[0], wholeMonths.at(-1)];
  const days = await listCounterDays(service, appName, { days: range, ...group });
  const months =
    first === undefined || last === undefined
      ? []
      : await listCounterMonths(service, appName, { months: [first, last], ...group });
  const countries = group.kind && group.product ? [...days, ...months].map(({ country }) => country) : [undefined];
  return [...new Set(countries)].map((country) => {
    const pick = (counters: CounterReadings): CounterReadings => counters.filter((each) => each.country === country);
    return [toGroupKey({ ...group, country }), { days: pick(days), months: pick(months) }] as const;
  });
}

function toGroupKey({ isSandbox, product, kind, country }: CounterGroup): string {
  const { platform, productId } = product ?? {};
  const sandbox = isSandbox ? { isSandbox } : {};
  return JSON.stringify({ ...sandbox, ...(product && { product: { platform, productId } }), kind, country });
}

/** The counters of the whole app. */
const appKey = toGroupKey({});
const parseGroupKey = (key: string): Pick<CounterDifference, 'isSandbox' | 'product' | 'kind' | 'country'> =>
  JSON.parse(key);

/** Selects what the month of a counter of statistics has of the counts of its days. */
const toMonthCounts = ({ product }: CounterGroup) => (product ? pickRunningTotals : collapseHours);

/**
 * Applies the differences that `recount` found. Call it after `waitForStream`, or records that were in the stream
 * during the recount are counted twice. Skips counters that changed since the recount, then throws `Conflict` with
 * their periods. Writes a day and its month in one transaction, so it can be repeated after a crash.
 */
export async function correctCounters(
  service: Service,
  appName: string,
  { days, differences }: { readonly days: DayRange; readonly differences: readonly CounterDifference[] },
): Promise<void> {
  const wholeMonths = listWholeMonths(days);
  const skippedPeriods: string[] = [];
  for (const { period, isSandbox, product, kind, country, version, recounted, change } of differences) {
    const month = period.slice(0, 7);
    const group = { isSandbox, product, kind, country };
    const monthChange = kind ? change : toMonthCounts(group)(change);
    const monthCorrection = { period: month, ...group, change: (counts: Counts) => addCounts(counts, monthChange) };
    const isInPartOfMonth = isDay(period) && !wholeMonths.includes(month) && Object.keys(monthChange).length > 0;
    const isCorrected = await replaceCounts(service, appName, [
      { period, ...group, version, change: () => recounted },
      ...(isInPartOfMonth ? [monthCorrection] : []),
    ]);
    if (!isCorrected) skippedPeriods.push(period);
  }
  if (skippedPeriods.length > 0) {
    throw new ServiceError('Conflict', `Counters changed during the recount: ${skippedPeriods.join(', ')}. Try again.`);
  }
}

function findDifferences(
  periods: readonly string[],
  counters: CounterReadings,
  recounts: CountsByPeriod,
): CounterDifference[] {
  const countersByPeriod = new Map(counters.map((counter) => [counter.period, counter]));
  return periods.flatMap((period) => {
    const { counts = {}, version = 0 } = countersByPeriod.get(period) ?? {};
    const recounted = recounts.get(period) ?? {};
    const change = addCounts(recounted, counts, -1);
    return Object.keys(change).length > 0 ? [{ period, version, recounted, change }] : [];
  });
}

/** Returns the counts that the items in the table add up to. The key is a `toGroupKey`. */
async function recountDays(
  service: Service,
  appName: string,
  {
    days: [first, last],
    counted,
    reportProgress,
  }: { days: DayRange; counted: CountsByPeriod; reportProgress: ReportProgress | undefined },
): Promise<ReadonlyMap<string, CountsByPeriod>> {
  const firstCompleteDay = await findFirstCompleteDay(service, appName);
  const groups = new Map([[appKey, new Map<string, Counts>()]]);
  const wholeMonths = listWholeMonths([first, last]);
  const addGroupCounts = (group: CounterGroup, period: string, counts: Counts): void => {
    const key = toGroupKey(group);
    const periods = groups.get(key) ?? new Map<string, Counts>();
    groups.set(key, periods.set(period, addCounts(periods.get(period) ?? {}, counts)));
  };
  let countedItems = 0;
  const range = { startdate: toMidnight(first), enddate: toMidnight(addDays(last, 1)) };
  for await (const items of scanCountableItems(service, appName, range)) {
    for (const { isSandbox, count } of counterScopes) {
      const itemCounts = items.map(count);
      for (const [day, counts] of sumDailyCounts(...itemCounts.map(({ days }) => days))) {
        if (day >= first && day <= last) addGroupCounts({ isSandbox }, day, counts);
      }
      for (const { day, counts, ...product } of sumProductCounts(itemCounts.flatMap((entry) => entry.products))) {
        if (day >= first && day <= last) addGroupCounts({ isSandbox, product }, day, counts);
      }
      for (const { period, counts, ...group } of sumFigureCounts(itemCounts.flatMap((entry) => entry.figures))) {
        const isInRange = isDay(period) ? period >= first && period <= last : wholeMonths.includes(period);
        if (isInRange) addGroupCounts({ isSandbox, ...group }, period, counts);
      }
    }
    countedItems += items.length;
    reportProgress?.(countedItems);
  }
  const app = groups.get(appKey);
  for (const day of listDays(first, last)) {
    if (day >= firstCompleteDay) break;
    const pick = (counts: Counts = {}, areEvents: boolean): Counts =>
      Object.fromEntries(Object.entries(counts).filter(([name]) => isEventName(name) === areEvents));
    app?.set(day, addCounts(pick(app.get(day), false), pick(counted.get(day), true)));
  }
  return groups;
}

const toMidnight = (day: string): EpochMillis => Date.parse(`${day}T00:00:00Z`);

/**
 * Finds the first day whose events are all retained. For earlier days, only the counters have the numbers of events.
 */
async function findFirstCompleteDay(service: Service, appName: string): Promise<string> {
  const oldest = await findOldestEventDate(service, appName);
  // '9' sorts after every day.
  return oldest === undefined ? '9' : addDays(toUtcDay(oldest), ttlDeletionLagDays);
}

/** Adds up the days of each month, after `collapse`. */
function sumByMonth(days: CountsByPeriod, collapse: (counts: Counts) => Counts): CountsByPeriod {
  const months = new Map<string, Counts>();
  for (const [day, counts] of days) {
    const month = day.slice(0, 7);
    months.set(month, addCounts(months.get(month) ?? {}, collapse(counts)));
  }
  return months;
}

const listWholeMonths = ([first, last]: DayRange): string[] =>
  listMonths(first.slice(0, 7), last.slice(0, 7)).filter(
    (month) => first <= `${month}-01` && addDays(last, 1).slice(0, 7) > month,
  );
