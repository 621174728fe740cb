import pMap from 'p-map';
import type { AppItemRepository } from '../apps/app-item-repository.ts';
import { toUtcDay } from '../money/daily-rates.ts';
import { addDays, listDays, listMonths } from '../shared/calendar.ts';
import { ServiceError } from '../shared/errors.ts';
import type { ReportProgress } from '../shared/progress.ts';
import type { EpochMillis } from '../shared/time.ts';
import { countStoredItem, sumDailyCounts } from './count-item.ts';
import { type Product, pickRunningTotals, sumProductCounts } from './count-product.ts';
import type { CounterRepository } from './counter-repository.ts';
import { addCounts, type Counts, collapseHours, indexByPeriod } from './counts.ts';

/** Days as `YYYY-MM-DD`, both included. */
type DayRange = readonly [first: string, last: string];
type CountsByPeriod = ReadonlyMap<string, Counts>;
interface RecountContext {
  readonly appItems: AppItemRepository;
  readonly counters: CounterRepository;
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
  /** Version of the counter that was compared. */
  readonly version: number;
  readonly recounted: Counts;
  /** The recounted counts minus the counter's counts. */
  readonly change: Counts;
}

/**
 * DynamoDB deletes expired items within a few days, in any order. Until then, the events of a day may be incomplete.
 * Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html
 */
const ttlDeletionLagDays = 4;

/** Number of products whose counters are read concurrently. */
const concurrency = 8;

/**
 * Compares the counters of the app and its products with the items in the table: the days, and the months that are
 * completely in the range.
 */
export async function recount(
  appName: string,
  days: DayRange,
  { appItems, counters, waitForIndex, reportProgress }: RecountContext,
): Promise<CounterDifference[]> {
  const appCounters = await readCounters(appName, { days, counters });
  const products = await counters.listProducts(appName);
  const productCounters = new Map(
    await pMap(
      products,
      async (product) => [toProductKey(product), await readCounters(appName, { days, counters, product })] as const,
      { concurrency },
    ),
  );
  await waitForIndex?.();
  const counted = indexByPeriod(appCounters.days);
  const recounted = await recountDays({ appItems, appName, days, counted, reportProgress });
  const months = listWholeMonths(days);
  const dayDifferences = findDifferences(listDays(...days), appCounters.days, recounted.app);
  const monthDifferences = findDifferences(months, appCounters.months, sumByMonth(recounted.app, collapseHours));
  const productDifferences = [...new Set([...productCounters.keys(), ...recounted.products.keys()])].flatMap((key) => {
    const readings = productCounters.get(key) ?? { days: [], months: [] };
    const countsByDay = recounted.products.get(key) ?? new Map<string, Counts>();
    const countedDays = [...new Set([...readings.days.map(({ period }) => period), ...countsByDay.keys()])].sort();
    const differences = [
      ...findDifferences(countedDays, readings.days, countsByDay),
      ...findDifferences(months, readings.months, sumByMonth(countsByDay, pickRunningTotals)),
    ];
    return differences.map((difference) => ({ ...difference, product: parseProductKey(key) }));
  });
  return [...dayDifferences, ...monthDifferences, ...productDifferences];
}

type CounterReadings = Awaited<ReturnType<CounterRepository['listDays']>>;

interface ReadOptions extends Pick<RecountContext, 'counters'> {
  readonly days: DayRange;
  readonly product?: Product;
}

async function readCounters(appName: string, { days, counters, product }: ReadOptions) {
  const months = listWholeMonths(days);
  return {
    days: await counters.listDays(appName, ...days, product),
    months: months.length > 0 ? await counters.listMonths(appName, months[0], months.at(-1), product) : [],
  };
}

const toProductKey = ({ platform, productId }: Product): string => JSON.stringify({ platform, productId });
const parseProductKey = (key: string): Product => JSON.parse(key);

/**
 * Applies the differences that `recount` found. Call it after `waitForStream`, or records that were in the stream
 * during the recount are counted twice. Skips counters that changed since the recount, then throws `Conflict` with
 * their periods. Writes a day and its month in one transaction, so it can be repeated after a crash.
 */
export async function correctCounters(
  appName: string,
  { days, differences }: { readonly days: DayRange; readonly differences: readonly CounterDifference[] },
  { counters }: Pick<RecountContext, 'counters'>,
): Promise<void> {
  const wholeMonths = listWholeMonths(days);
  const skippedPeriods: string[] = [];
  for (const { period, product, version, recounted, change } of differences) {
    const isDay = period.length === 10;
    const month = period.slice(0, 7);
    const monthChange = product ? pickRunningTotals(change) : collapseHours(change);
    const monthCorrection = { period: month, product, change: (counts: Counts) => addCounts(counts, monthChange) };
    const isInPartOfMonth = isDay && !wholeMonths.includes(month) && Object.keys(monthChange).length > 0;
    const isCorrected = await counters.replaceCounts(appName, [
      { period, product, version, change: () => recounted },
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

/** The counts of the days that the items in the table add up to. */
interface Recounts {
  readonly app: CountsByPeriod;
  /** The key is a `toProductKey`. */
  readonly products: ReadonlyMap<string, CountsByPeriod>;
}

async function recountDays({
  appItems,
  appName,
  days: [first, last],
  counted,
  reportProgress,
}: Pick<RecountContext, 'appItems'> & {
  appName: string;
  days: DayRange;
  counted: CountsByPeriod;
  reportProgress: ReportProgress | undefined;
}): Promise<Recounts> {
  const firstCompleteDay = await findFirstCompleteDay(appItems, appName);
  const countsByDay = new Map<string, Counts>();
  const products = new Map<string, Map<string, Counts>>();
  let countedItems = 0;
  const range = { startdate: toMidnight(first), enddate: toMidnight(addDays(last, 1)) };
  for await (const items of appItems.scanCountableItems(appName, range)) {
    const itemCounts = items.map(countStoredItem);
    for (const [day, counts] of sumDailyCounts(...itemCounts.map(({ days }) => days))) {
      if (day >= first && day <= last) countsByDay.set(day, addCounts(countsByDay.get(day) ?? {}, counts));
    }
    for (const { day, counts, ...product } of sumProductCounts(itemCounts.flatMap((entry) => entry.products))) {
      if (day < first || day > last) continue;
      const key = toProductKey(product);
      const productDays = products.get(key) ?? new Map<string, Counts>();
      products.set(key, productDays.set(day, addCounts(productDays.get(day) ?? {}, counts)));
    }
    countedItems += items.length;
    reportProgress?.(countedItems);
  }
  const app = new Map(
    listDays(first, last).map((day) => {
      const { requests: recountedRequests = 0, ...counts } = countsByDay.get(day) ?? {};
      const requests = day >= firstCompleteDay ? recountedRequests : (counted.get(day)?.requests ?? 0);
      return [day, addCounts(counts, { requests })];
    }),
  );
  return { app, products };
}

const toMidnight = (day: string): EpochMillis => Date.parse(`${day}T00:00:00Z`);

/**
 * Finds the first day whose events are all retained. For earlier days, only the counters have the number of requests.
 */
async function findFirstCompleteDay(appItems: RecountContext['appItems'], appName: string): Promise<string> {
  const oldest = await appItems.findOldestEventDate(appName);
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
