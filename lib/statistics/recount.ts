import type { Deps } from '../deps.ts';
import { addDays, listDays, listMonths } from '../shared/calendar.ts';
import { ServiceError } from '../shared/errors.ts';
import type { EpochMillis } from '../shared/time.ts';
import { addTally, collapseHours, indexByPeriod, type Tally } from './tally.ts';
import { sumDailyTallies, tallyItem, toUtcDay } from './tally-item.ts';

/** Days as `YYYY-MM-DD`, both included. */
type DayRange = readonly [first: string, last: string];
type TalliesByPeriod = ReadonlyMap<string, Tally>;
type RecountContext = Pick<Deps, 'appItems' | 'counters'> & {
  /** Called after the counters are read, to wait until the indexes contain all items that are counted. */
  readonly waitForIndex?: () => Promise<void>;
};

/** A counter that differs from the items in the table. */
export interface CounterDifference {
  /** `YYYY-MM-DD` or `YYYY-MM`. */
  readonly period: string;
  /** Version of the counter that was compared. */
  readonly version: number;
  readonly recounted: Tally;
  /** The recounted tally minus the counter's tally. */
  readonly change: Tally;
}

/**
 * DynamoDB deletes expired items within a few days, in any order. Until then, the events of a day may be incomplete.
 * Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html
 */
const ttlDeletionLagDays = 4;

/** Compares the counters of the days, and of the months that are completely in the range, with the items in the table. */
export async function recount(
  appName: string,
  days: DayRange,
  { appItems, counters, waitForIndex }: RecountContext,
): Promise<CounterDifference[]> {
  const [first, last] = days;
  const months = listWholeMonths(days);
  const dayCounters = await counters.listDays(appName, first, last);
  const monthCounters = months.length > 0 ? await counters.listMonths(appName, months[0], months.at(-1)) : [];
  await waitForIndex?.();
  const recounted = await recountDays({ appItems, appName, days, counted: indexByPeriod(dayCounters) });
  const dayDifferences = findDifferences(listDays(first, last), dayCounters, recounted);
  return [...dayDifferences, ...findDifferences(months, monthCounters, sumByMonth(recounted))];
}

/**
 * Applies the differences that `recount` found. Call it after `waitForStream`, or records that were in the stream during
 * the recount are counted twice. Skips counters that changed since the recount, then throws `Conflict` with their periods.
 * Writes a day and its month in one transaction, so it can be repeated after a crash.
 */
export async function correctCounters(
  appName: string,
  { days, differences }: { readonly days: DayRange; readonly differences: readonly CounterDifference[] },
  { counters }: Pick<Deps, 'counters'>,
): Promise<void> {
  const wholeMonths = listWholeMonths(days);
  const skippedPeriods: string[] = [];
  for (const { period, version, recounted, change } of differences) {
    const isDay = period.length === 10;
    const month = period.slice(0, 7);
    const monthCorrection = {
      period: month,
      change: (tally: Tally) => addTally(tally, collapseHours(change)),
    };
    const isCorrected = await counters.replaceTallies(appName, [
      { period, version, change: () => recounted },
      ...(isDay && !wholeMonths.includes(month) ? [monthCorrection] : []),
    ]);
    if (!isCorrected) skippedPeriods.push(period);
  }
  if (skippedPeriods.length > 0) {
    throw new ServiceError('Conflict', `Counters changed during the recount: ${skippedPeriods.join(', ')}. Try again.`);
  }
}

type CounterReadings = Awaited<ReturnType<RecountContext['counters']['listDays']>>;

function findDifferences(
  periods: readonly string[],
  counters: CounterReadings,
  recountedTallies: TalliesByPeriod,
): CounterDifference[] {
  const countersByPeriod = new Map(counters.map((counter) => [counter.period, counter]));
  return periods.flatMap((period) => {
    const { tally = {}, version = 0 } = countersByPeriod.get(period) ?? {};
    const recounted = recountedTallies.get(period) ?? {};
    const change = addTally(recounted, tally, -1);
    return Object.keys(change).length > 0 ? [{ period, version, recounted, change }] : [];
  });
}

async function recountDays({
  appItems,
  appName,
  days: [first, last],
  counted,
}: Pick<RecountContext, 'appItems'> & {
  appName: string;
  days: DayRange;
  counted: TalliesByPeriod;
}): Promise<TalliesByPeriod> {
  const firstCompleteDay = await findFirstCompleteDay(appItems, appName);
  const tallies = new Map<string, Tally>();
  const range = { startdate: toMidnight(first), enddate: toMidnight(addDays(last, 1)) };
  for await (const items of appItems.scanCountableItems(appName, range)) {
    for (const [day, tally] of sumDailyTallies(...items.map(tallyItem))) {
      if (day >= first && day <= last) tallies.set(day, addTally(tallies.get(day) ?? {}, tally));
    }
  }
  return new Map(
    listDays(first, last).map((day) => {
      const { requests: recountedRequests = 0, ...tally } = tallies.get(day) ?? {};
      const requests = day >= firstCompleteDay ? recountedRequests : (counted.get(day)?.requests ?? 0);
      return [day, addTally(tally, { requests })];
    }),
  );
}

const toMidnight = (day: string): EpochMillis => Date.parse(`${day}T00:00:00Z`);

/** Finds the first day whose events are all retained. For earlier days, only the counters have the number of requests. */
async function findFirstCompleteDay(appItems: RecountContext['appItems'], appName: string): Promise<string> {
  const oldest = await appItems.findOldestEventDate(appName);
  // '9' sorts after every day.
  return oldest === undefined ? '9' : addDays(toUtcDay(oldest), ttlDeletionLagDays);
}

function sumByMonth(days: TalliesByPeriod): TalliesByPeriod {
  const months = new Map<string, Tally>();
  for (const [day, tally] of days) {
    const month = day.slice(0, 7);
    months.set(month, addTally(months.get(month) ?? {}, collapseHours(tally)));
  }
  return months;
}

const listWholeMonths = ([first, last]: DayRange): string[] =>
  listMonths(first.slice(0, 7), last.slice(0, 7)).filter(
    (month) => first <= `${month}-01` && addDays(last, 1).slice(0, 7) > month,
  );
