import { ServiceError } from '../errors.ts';
import type { Millis } from '../purchases/purchase.ts';
import { dayAfter, daysBetween, monthAfter } from './calendar.ts';
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

const mostDays = 1_100;

/**
 * The range of a query. Spec: not shown. Without dates it is the last 31 days and the last 12 months; with them, the days
 * between them and the months that these touch. Throws `InvalidPayload` for a range that ends before it begins, or is longer
 * than three years.
 */
export function rangeOf({ startdate, enddate }: Asked, now: Millis): StatsRange {
  const last = enddate ?? dayOf(now);
  const first = startdate ?? dayAfter(last, -30);
  const count = daysBetween(first, last).length;
  if (count === 0) throw new ServiceError('InvalidPayload', 'startdate is after enddate.');
  if (count > mostDays) throw new ServiceError('InvalidPayload', `At most ${mostDays} days can be asked for.`);
  const lastMonth = last.slice(0, 7);
  const firstMonth = startdate === undefined ? monthAfter(lastMonth, -11) : first.slice(0, 7);
  return { days: [first, last], months: [firstMonth, lastMonth] };
}
