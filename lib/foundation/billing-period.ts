import * as v from 'valibot';
import { dayMs, type EpochMillis } from './time.ts';

const periodPattern = /^P([1-9]\d{0,3})([DWMY])$/;
const maxCount = 1000;

/** An ISO 8601 duration of up to 1000 days, weeks, months or years, such as `P3M`. */
export const BillingPeriod = v.pipe(
  v.string(),
  v.regex(periodPattern, 'an ISO 8601 duration of days, weeks, months or years such as P3M'),
  v.check((period) => Number(period.slice(1, -1)) <= maxCount, `a duration of at most ${maxCount} units`),
);
export type BillingPeriod = v.InferOutput<typeof BillingPeriod>;

/** Adds `times` billing periods, in UTC. A day beyond the end of the month becomes its last day. */
export function addBillingPeriods(start: EpochMillis, period: BillingPeriod, times = 1): EpochMillis {
  const [, digits = '0', unit] = periodPattern.exec(period) ?? [];
  const count = Number(digits) * times;
  if (unit === 'D' || unit === 'W') return start + count * (unit === 'W' ? 7 : 1) * dayMs;
  return addMonths(start, unit === 'Y' ? count * 12 : count);
}

function addMonths(start: EpochMillis, months: number): EpochMillis {
  const date = new Date(start);
  const month = date.getUTCMonth() + months;
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), month + 1, 0)).getUTCDate();
  return new Date(start).setUTCFullYear(date.getUTCFullYear(), month, Math.min(date.getUTCDate(), lastDay));
}

/** Returns the length of a period in whole months if they fit, otherwise in days. */
export function toBillingPeriod(start: EpochMillis, end: EpochMillis): BillingPeriod {
  const [from, to] = [new Date(start), new Date(end)];
  const months = (to.getUTCFullYear() - from.getUTCFullYear()) * 12 + to.getUTCMonth() - from.getUTCMonth();
  // The last day of a month follows the last day of a shorter or longer one.
  const isMonths = months > 0 && Math.abs(addBillingPeriods(start, `P${months}M`) - end) <= 3 * dayMs;
  return isMonths ? `P${months}M` : `P${Math.max(1, Math.round((end - start) / dayMs))}D`;
}
