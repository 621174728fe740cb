import * as v from 'valibot';
import { dayMs, type EpochMillis } from '../foundation/time.ts';

const decimal = '(?:0|[1-9]\\d{0,9})(?:\\.\\d{1,8})?';

/** A positive decimal number, in the format of the European Central Bank's rates. */
const PositiveDecimal = v.pipe(v.string(), v.regex(new RegExp(`^(?=.*[1-9])${decimal}$`)));

/** A calendar day such as `2024-12-31`. */
export const IsoDay = v.pipe(v.string(), v.isoDate());

/** US dollars for one unit of a currency: the fraction of the two rates per euro, such as `1.0389/163.06`. */
export const UsdRate = v.pipe(v.string(), v.regex(new RegExp(`^(?=[^/]*[1-9])${decimal}/(?=[^/]*[1-9])${decimal}$`)));

/** Returns a rate as a fraction of whole numbers. */
export function parseFraction(usdRate: string): readonly [numerator: bigint, denominator: bigint] {
  const [dollars = '', units = ''] = usdRate.split('/');
  const scale = Math.max(countDecimals(dollars), countDecimals(units));
  return [toScaledInteger(dollars, scale), toScaledInteger(units, scale)];
}

const countDecimals = (number: string): number => number.split('.')[1]?.length ?? 0;

/** Multiplies a decimal number by ten to the `scale`: `1.5` with scale 3 is 1500. */
const toScaledInteger = (number: string, scale: number): bigint =>
  BigInt(number.replace('.', '') + '0'.repeat(scale - countDecimals(number)));

/** ISO 4217 code of a currency. */
export const CurrencyCode = v.pipe(v.string(), v.regex(/^[A-Z]{3}$/));

/** Reference rates of a day: units of each currency per euro. Always contains the US dollar. */
export const DailyRates = v.object({
  date: IsoDay,
  perEuro: v.pipe(
    v.record(v.string(), PositiveDecimal),
    v.check(({ USD }) => USD !== undefined, 'a rate of USD'),
  ),
});
export type DailyRates = v.InferOutput<typeof DailyRates>;

/** Every request reads the item of the app, so the rates in it are small. */
const maxRates = 100;

/** A rate of a currency from a day on. */
const AppExchangeRate = v.strictObject({
  currency: v.pipe(
    CurrencyCode,
    v.check((code) => code !== 'USD', 'another currency than USD'),
  ),
  /** First day of the rate (UTC). */
  from: v.pipe(
    IsoDay,
    v.check((day) => new Date(day).toISOString().startsWith(day), 'a day of the calendar'),
  ),
  /** Units of the currency for one US dollar, such as `"26300"`. */
  perUSD: PositiveDecimal,
});

/** Rates of an app for currencies that the European Central Bank does not publish. They precede fixed rates. */
export const AppExchangeRates = v.pipe(
  v.array(AppExchangeRate),
  v.maxLength(maxRates, `at most ${maxRates} rates`),
  v.readonly(),
);
export type AppExchangeRates = v.InferOutput<typeof AppExchangeRates>;

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

/** Finds the latest rate of a currency that applies on the purchase date. */
export const findAppRate = (
  rates: AppExchangeRates,
  currency: string,
  purchaseDate: EpochMillis,
): AppExchangeRates[number] | undefined =>
  rates
    .filter((rate) => rate.currency === currency && rate.from <= toUtcDay(purchaseDate))
    .sort((a, b) => (a.from > b.from ? -1 : 1))[0];
