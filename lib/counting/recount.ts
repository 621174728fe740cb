import { countedItems, oldestEvent } from '../db/counted-items.ts';
import { dayKey, momentKey, monthKey } from '../db/keys.ts';
import type { Deps } from '../deps.ts';
import { ServiceError } from '../errors.ts';
import { dayAfter, daysBetween, monthsBetween } from '../stats/calendar.ts';
import { type Counted, contributionsOf, dayOf, summed } from '../stats/contributions.ts';
import { added, byPeriod, type Tally, withoutHours } from '../stats/tally.ts';

type Days = readonly [first: string, last: string];
type Tallies = ReadonlyMap<string, Tally>;
type Working = Pick<Deps, 'table' | 'counters'> & {
  /** Waits after the counters were read, so that the index knows what they have counted when it is read. */
  readonly settles?: () => Promise<void>;
};

/** A day or month whose counter says something else than the table. */
export interface Difference {
  readonly period: string;
  /** The counter that was compared. */
  readonly version: number;
  readonly recounted: Tally;
  /** What the counter lacks, or has too much of. */
  readonly change: Tally;
}

/** DynamoDB deletes events some days after they end, in no order: what is left of the oldest days is not all. */
const deletionDays = 4;

/** Compares the counters of days, and of the months that lie in them whole, with what the table holds. */
export async function recount(app: string, days: Days, { table, counters, settles }: Working): Promise<Difference[]> {
  const [first, last] = days;
  const months = wholeMonths(days);
  const before = await counters.days(app, first, last);
  const monthsBefore = months.length > 0 ? await counters.months(app, months[0], months.at(-1)) : [];
  await settles?.();
  const recounted = await tallies({ table, app, days, counted: byPeriod(before) });
  const byDay = differences(daysBetween(first, last), before, recounted);
  return [...byDay, ...differences(months, monthsBefore, monthSums(recounted))];
}

/**
 * Makes the counters say what `recount` found. What was on its way to them when the table was read would be counted twice:
 * call it when the stream has been counted up to now (`caughtUp`). What arrived meanwhile has changed its counters; these
 * are left, and `Conflict` names them. A counter and its month change together, so it can be run again after a crash.
 */
export async function correct(
  app: string,
  { days, differences }: { readonly days: Days; readonly differences: readonly Difference[] },
  { counters }: Pick<Deps, 'counters'>,
): Promise<void> {
  const whole = wholeMonths(days);
  const moved: string[] = [];
  for (const { period, version, recounted, change } of differences) {
    const isDay = period.length === 10;
    const month = period.slice(0, 7);
    const key = (isDay ? dayKey : monthKey)(app, period);
    const around = { key: monthKey(app, month), change: (tally: Tally) => added(tally, withoutHours(change)) };
    const isDone = await counters.correct([
      { key, version, change: () => recounted },
      ...(isDay && !whole.includes(month) ? [around] : []),
    ]);
    if (!isDone) moved.push(period);
  }
  if (moved.length > 0) {
    throw new ServiceError('Conflict', `Counted meanwhile, and left: ${moved.join(', ')}. Run it again.`);
  }
}

type Read = Awaited<ReturnType<Working['counters']['days']>>;

function differences(periods: readonly string[], before: Read, after: Tallies): Difference[] {
  const counters = new Map(before.map((counter) => [counter.period, counter]));
  return periods.flatMap((period) => {
    const { tally = {}, version = 0 } = counters.get(period) ?? {};
    const recounted = after.get(period) ?? {};
    const change = added(recounted, tally, -1);
    return Object.keys(change).length > 0 ? [{ period, version, recounted, change }] : [];
  });
}

async function tallies({
  table,
  app,
  days: [first, last],
  counted,
}: Pick<Working, 'table'> & { app: string; days: Days; counted: Tallies }): Promise<Tallies> {
  const whole = await wholeEventsFrom(table, app);
  const found = new Map<string, Tally>();
  for await (const items of countedItems(table, app, [midnight(first), midnight(dayAfter(last, 1))])) {
    const portion = summed(...items.map((item) => contributionsOf(item as Counted)));
    for (const [day, tally] of portion)
      if (day >= first && day <= last) found.set(day, added(found.get(day) ?? {}, tally));
  }
  return new Map(
    daysBetween(first, last).map((day) => {
      const { requests = 0, ...rest } = found.get(day) ?? {};
      return [day, added(rest, { requests: day >= whole ? requests : (counted.get(day)?.requests ?? 0) })];
    }),
  );
}

const midnight = (day: string): string => momentKey(Date.parse(`${day}T00:00:00Z`));

/** The first day whose events are all there; of those before it only the counters know the requests. */
async function wholeEventsFrom(table: Working['table'], app: string): Promise<string> {
  const oldest = await oldestEvent(table, app);
  return oldest === undefined ? '9' : dayAfter(dayOf(oldest), deletionDays);
}

function monthSums(days: Tallies): Tallies {
  const sums = new Map<string, Tally>();
  for (const [day, tally] of days) {
    const month = day.slice(0, 7);
    sums.set(month, added(sums.get(month) ?? {}, withoutHours(tally)));
  }
  return sums;
}

const wholeMonths = ([first, last]: Days): string[] =>
  monthsBetween(first.slice(0, 7), last.slice(0, 7)).filter(
    (month) => first <= `${month}-01` && dayAfter(last, 1).slice(0, 7) > month,
  );
