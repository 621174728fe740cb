import * as v from 'valibot';

export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

const pattern =
  /^P(?=.)(?:(\d{1,4})Y)?(?:(\d{1,4})M)?(?:(\d{1,4})W)?(?:(\d{1,4})D)?(?:T(?=.)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?)?$/;

/** ISO 8601 duration longer than zero, such as P1M, P1W or PT90S. */
export const Period = v.pipe(
  v.string(),
  v.check((text) => pattern.test(text) && /[1-9]/.test(text), 'expected an ISO 8601 duration such as P1M'),
);
export type Period = v.InferOutput<typeof Period>;

/**
 * Adds `times` periods to `start`, in UTC. Months keep the day of the month or end on the last day of a shorter month.
 */
export function addPeriod(start: number, period: Period, times = 1): number {
  const { months, ms } = parsePeriod(period);
  return addMonths(start, months * times) + ms * times;
}

/** Returns the average number of days of a period, for comparing plans. */
export function countDays(period: Period): number {
  const { months, ms } = parsePeriod(period);
  return (months * 365.25) / 12 + ms / dayMs;
}

/** Rounds down to a whole second, the precision of purchase dates in stores. */
export const floorToSecond = (at: number): number => Math.floor(at / secondMs) * secondMs;

/** Converts epoch milliseconds to seconds, the unit of token claims. */
export const toEpochSeconds = (at: number): number => Math.floor(at / secondMs);

/** Formats epoch milliseconds as ISO 8601 in UTC. */
export const formatTime = (at: number): string => new Date(at).toISOString();

/** Returns the calendar day of a time in a time zone: its midnight in UTC. */
export const toLocalDay = (at: number, timeZone: string): number =>
  Math.floor((at + getOffsetMs(at, timeZone)) / dayMs) * dayMs;

/** Returns the time at which a calendar day starts in a time zone. `day` is its midnight in UTC. */
export function getDayStart(day: number, timeZone: string): number {
  const estimate = day - getOffsetMs(day, timeZone);
  return day - getOffsetMs(estimate, timeZone);
}

/** Returns the difference between local time and UTC. */
function getOffsetMs(at: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day, hour, minute, second } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) - floorToSecond(at);
}

function parsePeriod(period: Period): { months: number; ms: number } {
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = (pattern.exec(period) ?? [])
    .slice(1)
    .map((digits = '0') => Number(digits));
  return {
    months: years * 12 + months,
    ms: (weeks * 7 + days) * dayMs + hours * hourMs + minutes * minuteMs + seconds * secondMs,
  };
}

function addMonths(start: number, months: number): number {
  const date = new Date(start);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, lastDay));
  return date.getTime();
}
