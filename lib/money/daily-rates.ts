import * as v from 'valibot';
import { dayMs, type EpochMillis } from '../foundation/time.ts';
import { IsoDay, PositiveDecimal } from './usd-rate.ts';

/** ISO 4217 code of a currency. */
export const CurrencyCode = v.pipe(v.string(), v.regex(/^[A-Z]{3}$/));

/** Reference rates of a day: units of each currency per euro. Always contains the US dollar. */
export const DailyRates = v.object({
  date: IsoDay,
  perEuro: v.objectWithRest({ USD: PositiveDecimal }, PositiveDecimal),
});
export type DailyRates = v.InferOutput<typeof DailyRates>;

/** Returns the UTC day (`YYYY-MM-DD`) of a time, moved by whole days. */
export const toUtcDay = (date: EpochMillis, offsetDays = 0): string =>
  new Date(date + offsetDays * dayMs).toISOString().slice(0, 10);

/**
 * Maximum age of the rates for a purchase. The bank pauses for up to 5 days, so the rates can fail to load for a week.
 */
const maxRateAgeDays = 10;

/**
 * Returns the first and the last day whose rates are valid for a purchase. The bank publishes rates in the afternoon,
 * so the last day is the day before: a purchase is converted at the same rate before and after the publication.
 */
export const getRateWindow = (purchaseDate: EpochMillis): readonly [first: string, last: string] => [
  toUtcDay(purchaseDate, -maxRateAgeDays),
  toUtcDay(purchaseDate, -1),
];

/** False for fallback rates. */
export function isInRateWindow(date: string, purchaseDate: EpochMillis): boolean {
  const [first, last] = getRateWindow(purchaseDate);
  return date >= first && date <= last;
}

/** Bank holidays are not considered. */
const isWorkingDay = (day: string): boolean => ![0, 6].includes(new Date(day).getUTCDay());

/** No newer rates can replace these for the purchase. */
export function isFinalRate(date: string, purchaseDate: EpochMillis): boolean {
  const newestWorkingDay = [1, 2, 3].map((daysAgo) => toUtcDay(purchaseDate, -daysAgo)).find(isWorkingDay);
  return isInRateWindow(date, purchaseDate) && newestWorkingDay !== undefined && date >= newestWorkingDay;
}
