import { dayMs } from './time.ts';

const toMidnightMs = (day: string): number => Date.parse(`${day}T00:00:00Z`);

/** The day so many days later, or earlier. Days are `YYYY-MM-DD`. */
export const addDays = (day: string, days: number): string =>
  new Date(toMidnightMs(day) + days * dayMs).toISOString().slice(0, 10);

/** The same day of the month before; of a day that it does not have, its last one. */
export function getSameDayPreviousMonth(day: string): string {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number];
  const last = new Date(Date.UTC(year, month - 1, 0));
  last.setUTCDate(Math.min(date, last.getUTCDate()));
  return last.toISOString().slice(0, 10);
}

/** The month so many months later, or earlier. Months are `YYYY-MM`. */
export function addMonths(month: string, months: number): string {
  const [year, number] = month.split('-').map(Number) as [number, number];
  return new Date(Date.UTC(year, number - 1 + months, 1)).toISOString().slice(0, 7);
}

/** How many days the second is after the first; negative when it is before it. */
export const countDaysBetween = (first: string, last: string): number =>
  Math.round((toMidnightMs(last) - toMidnightMs(first)) / dayMs);

/** Every day from the first to the last, both included. */
export const listDays = (first: string, last: string): string[] =>
  Array.from({ length: Math.max(0, countDaysBetween(first, last) + 1) }, (_, index) => addDays(first, index));

/** Every month from the first to the last, both included. */
export function listMonths(first: string, last: string): string[] {
  const months: string[] = [];
  for (let month = first; month <= last; month = addMonths(month, 1)) months.push(month);
  return months;
}
