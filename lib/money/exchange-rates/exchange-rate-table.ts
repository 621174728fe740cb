import { ratesKey } from '../../foundation/keys.ts';
import { parse } from '../../foundation/parse.ts';
import { perContainer, type Service } from '../../foundation/service.ts';
import { dayMs, type EpochMillis, hourMs } from '../../foundation/time.ts';
import { DailyRates, getRateWindow, isFinalRate, toUtcDay } from '../rates.ts';

/** Maximum distance of a purchase date from the date of the fallback rates. */
const fallbackWindowMs = 3 * 366 * dayMs;

/** Lifetime of a cached result that later rates can replace. */
const recheckAfterMs = hourMs;

/** Missing rates are loaded for so long, because the history is requested for no longer period. */
const backfillWindowMs = 90 * dayMs;
const maxEntries = 1_000;

interface CachedRates {
  readonly readAt: EpochMillis;
  readonly rates: Promise<DailyRates | undefined>;
}

const cachedDays = perContainer(() => new Map<string, CachedRates>());

/**
 * Reference rates of the European Central Bank of 31 December 2024, for purchase dates without stored rates.
 * @see https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/html/index.en.html
 */
const fallbackRates: DailyRates = {
  date: '2024-12-31',
  perEuro: {
    USD: '1.0389',
    JPY: '163.06',
    BGN: '1.9558',
    CZK: '25.185',
    DKK: '7.4578',
    GBP: '0.82918',
    HUF: '411.35',
    PLN: '4.2750',
    RON: '4.9743',
    SEK: '11.4590',
    CHF: '0.9412',
    ISK: '143.90',
    NOK: '11.7950',
    TRY: '36.7372',
    AUD: '1.6772',
    BRL: '6.4253',
    CAD: '1.4948',
    CNY: '7.5833',
    HKD: '8.0686',
    IDR: '16820.88',
    ILS: '3.7885',
    INR: '88.9335',
    KRW: '1532.15',
    MXN: '21.5504',
    MYR: '4.6454',
    NZD: '1.8532',
    PHP: '60.301',
    SGD: '1.4164',
    THB: '35.676',
    ZAR: '19.6188',
  },
};

/** Returns the rates in force on the purchase date. Undefined if none are recent enough. */
export async function findStoredRates({ table }: Service, purchaseDate: EpochMillis): Promise<DailyRates | undefined> {
  const [item] = await table.query({
    partition: ratesKey.partition(),
    between: getRateWindow(purchaseDate),
    newestFirst: true,
    limit: 1,
    isEventuallyConsistent: true,
  });
  return item && parse(DailyRates, item, 'DatabaseError');
}

/** Lists the stored days (`YYYY-MM-DD`) from the first to the last, both included. */
export async function listRateDays({ table }: Service, first: string, last: string): Promise<string[]> {
  const items = await table.query({ partition: ratesKey.partition(), between: [first, last] });
  return items.map(({ sk }) => String(sk));
}

export async function saveRates({ table }: Service, days: readonly DailyRates[]): Promise<void> {
  await table.batchPut(days.map((day) => ({ ...ratesKey(day.date), ...day })));
}

/**
 * Returns the rates in force on the purchase date. Undefined if none are near enough. Reads a day once per container,
 * and again after one hour while better rates can be loaded. Does not cache a failed read.
 */
export async function findRatesForDate(service: Service, purchaseDate: EpochMillis): Promise<DailyRates | undefined> {
  const day = toUtcDay(purchaseDate);
  const cached = cachedDays(service).get(day);
  const isFresh = cached && service.now() - cached.readAt < recheckAfterMs;
  return (await (isFresh ? cached.rates : readRates(service, day, purchaseDate))) ?? findFallback(purchaseDate);
}

function readRates(service: Service, day: string, purchaseDate: EpochMillis): Promise<DailyRates | undefined> {
  const { now } = service;
  const entries = cachedDays(service);
  const rates = findStoredRates(service, purchaseDate);
  if (entries.size >= maxEntries) entries.clear();
  const entry = { readAt: now(), rates };
  entries.set(day, entry);
  rates.then(
    (dailyRates) => {
      const isFinal =
        dailyRates && (isFinalRate(dailyRates.date, purchaseDate) || now() - purchaseDate > backfillWindowMs);
      if (isFinal) entries.set(day, { ...entry, readAt: Number.POSITIVE_INFINITY });
    },
    () => entries.delete(day),
  );
  return rates;
}

const findFallback = (purchaseDate: EpochMillis): DailyRates | undefined =>
  Math.abs(purchaseDate - Date.parse(fallbackRates.date)) <= fallbackWindowMs ? fallbackRates : undefined;
