import { addMonths } from '../foundation/calendar.ts';
import { groupBy } from '../foundation/collections.ts';
import type { Product } from './counter-key.ts';
import { parsePriceName } from './counter-names.ts';
import type { CounterPeriod } from './counter-table.ts';

/** The regular price of a product in a currency became another one. */
export interface FoundPriceChange extends Product {
  /** Day of the first payment of the new price. */
  readonly date: string;
  readonly currency: string;
  readonly fromMicros: number;
  readonly toMicros: number;
  /** ISO 3166-1 codes of the countries in which the new price was paid, sorted. */
  readonly countries: string[];
}

/** A first use of a price, in the countries that paid another one before. */
export interface PriceStart {
  /** `YYYY-MM`. */
  readonly month: string;
  readonly currency: string;
  readonly period: string;
  readonly micros: number;
  readonly countries: ReadonlySet<string>;
}

/** A price counts after so many payments, and with this part of the payments: others are of single customers. */
const minPayments = 3;
const minShare = 0.1;

interface PriceCount {
  /** `YYYY-MM-DD` or `YYYY-MM`. */
  readonly time: string;
  readonly country: string;
  readonly currency: string;
  readonly period: string;
  readonly micros: number;
  readonly payments: number;
}

const listPrices = (counters: readonly CounterPeriod[]): PriceCount[] =>
  counters.flatMap(({ period: time, country = '', counts }) =>
    Object.entries(counts).flatMap(([name, payments]) => {
      const price = parsePriceName(name);
      return price && payments > 0 ? [{ time, country, ...price, payments }] : [];
    }),
  );

const countPayments = (prices: readonly PriceCount[]): number =>
  prices.reduce((total, { payments }) => total + payments, 0);

/** Finds the months in which customers of a product began to pay another price, from the counters of its cells. */
export function findPriceStarts(months: readonly CounterPeriod[]): PriceStart[] {
  const products = groupBy(listPrices(months), ({ currency, period }) => `${currency}@${period}`);
  return [...products.values()].flatMap((prices) => {
    const byMicros = groupBy(prices, ({ micros }) => micros);
    return [...byMicros].flatMap(([micros, pricePayments]) => findStart(micros, pricePayments, prices));
  });
}

function findStart(micros: number, pricePayments: readonly PriceCount[], prices: readonly PriceCount[]): PriceStart[] {
  const starts = [...groupBy(pricePayments, ({ country }) => country)]
    .map(([country, rows]) => ({ country, month: rows.map(({ time }) => time).sort()[0] ?? '' }))
    .filter(({ country, month }) =>
      prices.some((price) => price.country === country && price.micros !== micros && price.time <= month),
    );
  const [month] = starts.map((start) => start.month).sort();
  if (month === undefined) return [];
  const next = addMonths(month, 1);
  const countries = new Set(starts.filter((start) => start.month <= next).map(({ country }) => country));
  const all = prices.filter(({ country, time }) => countries.has(country) && time >= month && time <= next);
  const payments = countPayments(all.filter((price) => price.micros === micros));
  if (payments < minPayments || payments < countPayments(all) * minShare) return [];
  const [{ currency = '', period = '' } = {}] = pricePayments;
  return [{ month, currency, period, micros, countries }];
}

/** Finds the day of a first use and the price before it. Undefined if the product had none before. */
export function toPriceChange(
  product: Product,
  { month, currency, period, micros, countries }: PriceStart,
  { days, months }: { readonly days: readonly CounterPeriod[]; readonly months: readonly CounterPeriod[] },
): FoundPriceChange | undefined {
  const select = (counters: readonly CounterPeriod[]): PriceCount[] =>
    listPrices(counters).filter(
      (price) => price.currency === currency && price.period === period && countries.has(price.country),
    );
  const ofDays = select(days);
  const date = ofDays
    .filter((price) => price.micros === micros)
    .map(({ time }) => time)
    .sort()[0];
  if (date === undefined) return undefined;
  const earlier = select(months).filter(({ time }) => time < month);
  const lastMonth = earlier
    .map(({ time }) => time)
    .sort()
    .at(-1);
  const before = [
    ...ofDays.filter(({ time }) => time < date),
    ...earlier.filter(({ time }) => time === lastMonth),
  ].filter((price) => price.micros !== micros);
  const [fromMicros] = [...groupBy(before, (price) => price.micros)]
    .sort(([, a], [, b]) => countPayments(b) - countPayments(a))
    .map(([price]) => price);
  return fromMicros === undefined
    ? undefined
    : { date, ...product, currency, fromMicros, toMicros: micros, countries: [...countries].sort() };
}
