import { perContainer, type Service } from '../../foundation/service.ts';
import { dayMs, type EpochMillis, hourMs } from '../../foundation/time.ts';
import { type DailyRates, isFinalRate, toUtcDay } from '../daily-rates.ts';
import { findStoredRates } from './exchange-rate-table.ts';
import { fallbackRates } from './fallback-rates.ts';

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
