import { ServiceError } from '../errors.ts';
import type { Millis } from '../purchases/purchase.ts';
import { dayAfter, daysApart, monthAfter } from './calendar.ts';
import { dayOf } from './contributions.ts';

/** Days and months that statistics are asked for, first and last included. */
export interface StatsRange {
  readonly days: readonly [string, string];
  readonly months: readonly [string, string];
}

interface Asked {
  readonly startdate?: string | undefined;
  readonly enddate?: string | undefined;
}

/** Ten years: an answer of 1.6 MB where each day has two currencies, of 3.5 MB where each has thirty. */
const mostDays = 3_660;

/**
 * The range of a query. Spec: not shown. Without dates it is the last 31 days and the last 12 months; with them, the days
 * between them and the months that these touch. Undefined for a range that ends before it begins, as lists by date are then
 * empty, too. Throws `InvalidPayload` for one of more than 3,660 days.
 */
export function rangeOf({ startdate, enddate }: Asked, now: Millis): StatsRange | undefined {
  const last = enddate ?? dayOf(now);
  const first = startdate ?? dayAfter(last, -30);
  if (first > last) return undefined;
  if (daysApart(first, last) >= mostDays)
    throw new ServiceError('InvalidPayload', `At most ${mostDays} days can be asked for.`);
  const lastMonth = last.slice(0, 7);
  const firstMonth = startdate === undefined ? monthAfter(lastMonth, -11) : first.slice(0, 7);
  return { days: [first, last], months: [firstMonth, lastMonth] };
}
