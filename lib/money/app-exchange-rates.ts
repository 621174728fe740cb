import * as v from 'valibot';
import type { EpochMillis } from '../foundation/time.ts';
import { CurrencyCode, toUtcDay } from './daily-rates.ts';
import { IsoDay, PositiveDecimal } from './usd-rate.ts';

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

/** Finds the latest rate of a currency that applies on the purchase date. */
export const findAppRate = (
  rates: AppExchangeRates,
  currency: string,
  purchaseDate: EpochMillis,
): AppExchangeRates[number] | undefined =>
  rates
    .filter((rate) => rate.currency === currency && rate.from <= toUtcDay(purchaseDate))
    .sort((a, b) => (a.from > b.from ? -1 : 1))[0];
