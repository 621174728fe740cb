import { countedItems, oldestEvent } from '../db/counted-items.ts';
import { dayKey, momentKey, monthKey } from '../db/keys.ts';
import type { Deps } from '../deps.ts';
import { ServiceError } from '../errors.ts';
import { dayAfter, daysBetween, monthsBetween } from '../stats/calendar.ts';
import { type Counted, contributionsOf, dayOf, summed } from '../stats/contributions.ts';
import { added, byPeriod, type Tally, withoutHours } from '../stats/tally.ts';

type Days = readonly [first: string, last: string];
type Tallies = ReadonlyMap<string, Tally>;
type Working = Pick<Deps, 'table' | 'counters'>;

/** A day or month whose counter says something else than the table. */
export interface Difference {
  readonly period: string;
  readonly counted: Tally;
  readonly recounted: Tally;
  /** What the counter lacks, or has too much of. */
  readonly change: Tally;
}

/** DynamoDB deletes events some days after they end, in no order: what is left of the oldest days is not all. */
const deletionDays = 4;

/** Compares the counters of days, and of the months that lie in them whole, with what the table holds. */
export async function recount(app: string, days: Days, { table, counters }: Working): Promise<Difference[]> {
  const [first, last] = days;
  const months = wholeMonths(days);
  const before = await counters.days(app, first, last);
  const monthsBefore = byPeriod(months.length > 0 ? await counters.months(app, months[0], months.at(-1)) : []);
  const counted = byPeriod(before);
  const recounted = await tallies({ table, app, days, counted });
  const byDay = daysBetween(first, last).map((day) => difference(day, counted, recounted));
  const sums = monthSums(recounted);
  const byMonth = months.map((month) => difference(month, monthsBefore, sums));
  return [...byDay, ...byMonth].filter(({ change }) => Object.keys(change).length > 0);
}

/**
 * Makes the counters say what `recount` found. Throws `Conflict` when one of them has changed since: the records of what was
 * found were still on their way, and counting them twice would be worse than running the command again.
 */
export async function correct(
  app: string,
  { days, differences }: { readonly days: Days; readonly differences: readonly Difference[] },
  { counters }: Pick<Deps, 'counters'>,
): Promise<void> {
  const whole = wholeMonths(days);
  for (const { period, counted, recounted, change } of differences) {
    const isDay = period.length === 10;
    await counters.correct((isDay ? dayKey : monthKey)(app, period), (tally) => {
      if (!isSame(tally, counted)) throw new ServiceError('Conflict', `${period} was counted meanwhile: run it again.`);
      return recounted;
    });
    const month = period.slice(0, 7);
    if (isDay && !whole.includes(month)) {
      await counters.correct(monthKey(app, month), (tally) => added(tally, withoutHours(change)));
    }
  }
}

const isSame = (one: Tally, other: Tally): boolean => Object.keys(added(one, other, -1)).length === 0;

function difference(period: string, before: Tallies, after: Tallies): Difference {
  const counted = before.get(period) ?? {};
  const recounted = after.get(period) ?? {};
  return { period, counted, recounted, change: added(recounted, counted, -1) };
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
