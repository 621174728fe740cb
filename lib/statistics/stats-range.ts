import { addDays, addMonths, countDaysBetween } from '../foundation/calendar.ts';
import { ServiceError } from '../foundation/errors.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { toUtcDay } from '../money/rates.ts';

/** Requested days (`YYYY-MM-DD`) and months (`YYYY-MM`), first and last included. */
export interface StatsRange {
  readonly days: readonly [string, string];
  readonly months: readonly [string, string];
}

interface StatsRangeQuery {
  readonly startdate?: string | undefined;
  readonly enddate?: string | undefined;
}

/** Ten years. The response has up to 1.6 MB with two currencies a day, and 3.5 MB with thirty. */
const maxDays = 3_660;

/**
 * Parses the range of a query. Returns undefined for a range that ends before it starts: lists by date are empty, too.
 * Throws `InvalidPayload` for more than 3,660 days.
 * Spec: not shown. The default is the last 31 days and 12 months. Requested days select the months that contain them.
 */
export function parseStatsRange({ startdate, enddate }: StatsRangeQuery, now: EpochMillis): StatsRange | undefined {
  const last = enddate ?? toUtcDay(now);
  const first = startdate ?? addDays(last, -30);
  if (first > last) return undefined;
  if (countDaysBetween(first, last) >= maxDays)
    throw new ServiceError('InvalidPayload', `The date range is too long: at most ${maxDays} days.`);
  const lastMonth = last.slice(0, 7);
  const firstMonth = startdate === undefined ? addMonths(lastMonth, -11) : first.slice(0, 7);
  return { days: [first, last], months: [firstMonth, lastMonth] };
}
