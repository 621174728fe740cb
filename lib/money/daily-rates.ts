import * as v from 'valibot';
import { dayMs } from '../shared/time.ts';
import { IsoDay, PositiveDecimal } from './usd-rate.ts';

/** A currency's code as ISO 4217 has it. */
export const CurrencyCode = v.pipe(v.string(), v.regex(/^[A-Z]{3}$/));

/** The reference rates of one day: what one euro bought of each currency, the US dollar always among them. */
export const DailyRates = v.object({
  date: IsoDay,
  perEuro: v.objectWithRest({ USD: PositiveDecimal }, PositiveDecimal),
});
export type DailyRates = v.InferOutput<typeof DailyRates>;

/** The UTC day of a moment, moved by whole days. */
export const toUtcDay = (date: number, offsetDays = 0): string =>
  new Date(date + offsetDays * dayMs).toISOString().slice(0, 10);

/**
 * How many days before a purchase its rates may have come out. The bank pauses for five days at most, so this bears a week in
 * which the rates could not be fetched.
 */
const maxRateAgeDays = 10;

/**
 * The first and the last day whose rates are good for a purchase. Rates come out in the afternoon of their day, so those in
 * force are of a day before: a purchase converts the same whether it is taken in before or after that afternoon.
 */
export const getRateWindow = (purchaseDate: number): readonly [first: string, last: string] => [
  toUtcDay(purchaseDate, -maxRateAgeDays),
  toUtcDay(purchaseDate, -1),
];

/** Whether rates of this day are good for the purchase, and not the estimate that ships with the code. */
export function isInRateWindow(date: string, purchaseDate: number): boolean {
  const [first, last] = getRateWindow(purchaseDate);
  return date >= first && date <= last;
}

/** Whether the bank publishes rates on this day of the week; of holidays nothing is known. */
export const isWorkingDay = (day: string): boolean => ![0, 6].includes(new Date(day).getUTCDay());

/** Whether rates of this day are good for the purchase, and none that come in later can be better. */
export function isFinalRate(date: string, purchaseDate: number): boolean {
  const newest = [1, 2, 3].map((ago) => toUtcDay(purchaseDate, -ago)).find(isWorkingDay);
  return isInRateWindow(date, purchaseDate) && newest !== undefined && date >= newest;
}
