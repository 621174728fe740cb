import { dayMs, type EpochMillis, hourMs } from '../../shared/time.ts';
import type { ExchangeRates } from '../attach-usd-rates.ts';
import { type DailyRates, isFinalRate, toUtcDay } from '../daily-rates.ts';
import { fallbackRates } from './fallback-rates.ts';

/** The stored exchange rates. */
interface StoredRates {
  findForPurchaseDate(purchaseDate: EpochMillis): Promise<DailyRates | undefined>;
}

/** Maximum distance of a purchase date from the date of the fallback rates. */
const fallbackWindowMs = 3 * 366 * dayMs;
/** Lifetime of a cached result that later rates can replace. */
const recheckAfterMs = hourMs;
/** Missing rates are loaded for so long, because the history is requested for no longer period. */
const backfillWindowMs = 90 * dayMs;
const maxEntries = 1_000;

/**
 * Creates the exchange rates for conversions. Reads a day once per container, and again after one hour while better
 * rates can be loaded. Does not cache a failed read.
 */
export function createRateCache(storedRates: StoredRates, now: () => EpochMillis): ExchangeRates {
  const entries = new Map<string, { readonly readAt: EpochMillis; readonly rates: Promise<DailyRates | undefined> }>();
  const read = (day: string, purchaseDate: EpochMillis): Promise<DailyRates | undefined> => {
    const rates = storedRates.findForPurchaseDate(purchaseDate);
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
  };
  return {
    async findForDate(purchaseDate) {
      const day = toUtcDay(purchaseDate);
      const cached = entries.get(day);
      const isFresh = cached && now() - cached.readAt < recheckAfterMs;
      return (await (isFresh ? cached.rates : read(day, purchaseDate))) ?? findFallback(purchaseDate);
    },
  };
}

const findFallback = (purchaseDate: EpochMillis): DailyRates | undefined =>
  Math.abs(purchaseDate - Date.parse(fallbackRates.date)) <= fallbackWindowMs ? fallbackRates : undefined;
