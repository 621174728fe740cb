import { addDays, addMonths, countDaysBetween } from '../shared/calendar.ts';
import { ServiceError } from '../shared/errors.ts';
import type { EpochMillis } from '../shared/time.ts';
import { toUtcDay } from './tally-item.ts';

/** Days and months that statistics are asked for, first and last included. */
export interface StatsRange {
  readonly days: readonly [string, string];
  readonly months: readonly [string, string];
}

interface StatsRangeQuery {
  readonly startdate?: string | undefined;
  readonly enddate?: string | undefined;
}

/** Ten years: an answer of 1.6 MB where each day has two currencies, of 3.5 MB where each has thirty. */
const maxDays = 3_660;

/**
 * The range of a query. Spec: not shown. Without dates it is the last 31 days and the last 12 months; with them, the days
 * between them and the months that these touch. Undefined for a range that ends before it begins, as lists by date are then
 * empty, too. Throws `InvalidPayload` for one of more than 3,660 days.
 */
export function parseStatsRange({ startdate, enddate }: StatsRangeQuery, now: EpochMillis): StatsRange | undefined {
  const last = enddate ?? toUtcDay(now);
  const first = startdate ?? addDays(last, -30);
  if (first > last) return undefined;
  if (countDaysBetween(first, last) >= maxDays)
    throw new ServiceError('InvalidPayload', `At most ${maxDays} days can be asked for.`);
  const lastMonth = last.slice(0, 7);
  const firstMonth = startdate === undefined ? addMonths(lastMonth, -11) : first.slice(0, 7);
  return { days: [first, last], months: [firstMonth, lastMonth] };
}
