import type { Deps } from '../deps.ts';
import { addDays, listDays, listMonths } from '../shared/calendar.ts';
import { ServiceError } from '../shared/errors.ts';
import { addTally, collapseHours, indexByPeriod, type Tally } from './tally.ts';
import { type CountableItem, sumDailyTallies, tallyItem, toUtcDay } from './tally-item.ts';

type DayRange = readonly [first: string, last: string];
type TalliesByPeriod = ReadonlyMap<string, Tally>;
type RecountContext = Pick<Deps, 'appItems' | 'counters'> & {
  /** Waits after the counters were read, so that the index knows what they have counted when it is read. */
  readonly waitForIndex?: () => Promise<void>;
};

/** A day or month whose counter says something else than the table. */
export interface CounterDifference {
  readonly period: string;
  /** The counter that was compared. */
  readonly version: number;
  readonly recounted: Tally;
  /** What the counter lacks, or has too much of. */
  readonly change: Tally;
}

/** DynamoDB deletes events some days after they end, in no order: what is left of the oldest days is not all. */
const ttlDeletionLagDays = 4;

/** Compares the counters of days, and of the months that lie in them whole, with what the table holds. */
export async function recount(
  appName: string,
  days: DayRange,
  { appItems, counters, waitForIndex }: RecountContext,
): Promise<CounterDifference[]> {
  const [first, last] = days;
  const months = listWholeMonths(days);
  const before = await counters.listDays(appName, first, last);
  const monthsBefore = months.length > 0 ? await counters.listMonths(appName, months[0], months.at(-1)) : [];
  await waitForIndex?.();
  const recounted = await recountDays({ appItems, appName, days, counted: indexByPeriod(before) });
  const byDay = findDifferences(listDays(first, last), before, recounted);
  return [...byDay, ...findDifferences(months, monthsBefore, sumByMonth(recounted))];
}

/**
 * Makes the counters say what `recount` found. What was on its way to them when the table was read would be counted twice:
 * call it when the stream has been counted up to now (`caughtUp`). What arrived meanwhile has changed its counters; these
 * are left, and `Conflict` names them. A counter and its month change together, so it can be run again after a crash.
 */
export async function correctCounters(
  appName: string,
  { days, differences }: { readonly days: DayRange; readonly differences: readonly CounterDifference[] },
  { counters }: Pick<Deps, 'counters'>,
): Promise<void> {
  const whole = listWholeMonths(days);
  const changedMeanwhile: string[] = [];
  for (const { period, version, recounted, change } of differences) {
    const isDay = period.length === 10;
    const month = period.slice(0, 7);
    const monthCorrection = {
      period: month,
      change: (tally: Tally) => addTally(tally, collapseHours(change)),
    };
    const isDone = await counters.replaceTallies(appName, [
      { period, version, change: () => recounted },
      ...(isDay && !whole.includes(month) ? [monthCorrection] : []),
    ]);
    if (!isDone) changedMeanwhile.push(period);
  }
  if (changedMeanwhile.length > 0) {
    throw new ServiceError('Conflict', `Counted meanwhile, and left: ${changedMeanwhile.join(', ')}. Run it again.`);
  }
}

type CounterReadings = Awaited<ReturnType<RecountContext['counters']['listDays']>>;

function findDifferences(
  periods: readonly string[],
  before: CounterReadings,
  after: TalliesByPeriod,
): CounterDifference[] {
  const counters = new Map(before.map((counter) => [counter.period, counter]));
  return periods.flatMap((period) => {
    const { tally = {}, version = 0 } = counters.get(period) ?? {};
    const recounted = after.get(period) ?? {};
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
  const whole = await findFirstCompleteDay(appItems, appName);
  const found = new Map<string, Tally>();
  for await (const items of appItems.scanCountableItems(appName, {
    startdate: toMidnight(first),
    enddate: toMidnight(addDays(last, 1)),
  })) {
    const portion = sumDailyTallies(...items.map(({ item }) => tallyItem(item as CountableItem)));
    for (const [day, tally] of portion)
      if (day >= first && day <= last) found.set(day, addTally(found.get(day) ?? {}, tally));
  }
  return new Map(
    listDays(first, last).map((day) => {
      const { requests = 0, ...rest } = found.get(day) ?? {};
      return [day, addTally(rest, { requests: day >= whole ? requests : (counted.get(day)?.requests ?? 0) })];
    }),
  );
}

const toMidnight = (day: string): number => Date.parse(`${day}T00:00:00Z`);

/** The first day whose events are all there; of those before it only the counters know the requests. */
async function findFirstCompleteDay(appItems: RecountContext['appItems'], appName: string): Promise<string> {
  const oldest = await appItems.findOldestEventDate(appName);
  return oldest === undefined ? '9' : addDays(toUtcDay(oldest), ttlDeletionLagDays);
}

function sumByMonth(days: TalliesByPeriod): TalliesByPeriod {
  const sums = new Map<string, Tally>();
  for (const [day, tally] of days) {
    const month = day.slice(0, 7);
    sums.set(month, addTally(sums.get(month) ?? {}, collapseHours(tally)));
  }
  return sums;
}

const listWholeMonths = ([first, last]: DayRange): string[] =>
  listMonths(first.slice(0, 7), last.slice(0, 7)).filter(
    (month) => first <= `${month}-01` && addDays(last, 1).slice(0, 7) > month,
  );
