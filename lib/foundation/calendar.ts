import { dayMs } from './time.ts';

const toMidnightMs = (day: string): number => Date.parse(`${day}T00:00:00Z`);

/** Adds days to a day; negative values subtract. Days are `YYYY-MM-DD`. */
export const addDays = (day: string, days: number): string =>
  new Date(toMidnightMs(day) + days * dayMs).toISOString().slice(0, 10);

/** Returns the same day of the previous month, or its last day if that month is shorter. */
export function getSameDayPreviousMonth(day: string): string {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number];
  const last = new Date(Date.UTC(year, month - 1, 0));
  last.setUTCDate(Math.min(date, last.getUTCDate()));
  return last.toISOString().slice(0, 10);
}

/** Adds months to a month; negative values subtract. Months are `YYYY-MM`. */
export function addMonths(month: string, months: number): string {
  const [year, number] = month.split('-').map(Number) as [number, number];
  return new Date(Date.UTC(year, number - 1 + months, 1)).toISOString().slice(0, 7);
}

/** Returns the last day of a month. */
export const getLastDay = (month: string): string => addDays(`${addMonths(month, 1)}-01`, -1);

/** Returns true for a day, and false for a month. */
export const isDay = (period: string): boolean => period.length === 'YYYY-MM-DD'.length;

/** Counts the days from the first to the last day; negative if the last day is earlier. */
export const countDaysBetween = (first: string, last: string): number =>
  Math.round((toMidnightMs(last) - toMidnightMs(first)) / dayMs);

/** Lists the days from the first to the last, both included. */
export const listDays = (first: string, last: string): string[] =>
  Array.from({ length: Math.max(0, countDaysBetween(first, last) + 1) }, (_, index) => addDays(first, index));

/** Lists the months from the first to the last, both included. */
export function listMonths(first: string, last: string): string[] {
  const months: string[] = [];
  for (let month = first; month <= last; month = addMonths(month, 1)) months.push(month);
  return months;
}
