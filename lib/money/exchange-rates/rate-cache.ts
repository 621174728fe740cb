import type { ExchangeRateRepository } from '../../db/exchange-rate-repository.ts';
import { type DailyRates, isFinalRate, toUtcDay } from '../daily-rates.ts';
import { fallbackRates } from './fallback-rates.ts';

/** The rates that purchases are converted with. */
export interface ExchangeRates {
  /** The rates in force on the day of a purchase; undefined when there are none near enough. */
  findForDate(purchaseDate: number): Promise<DailyRates | undefined>;
}

/** An estimate of a currency's worth is given for this long before and after the snapshot, then none. */
const fallbackWindowMs = 3 * 366 * 24 * 60 * 60 * 1000;
/** How long a day may be met without rates that have come in since. */
const recheckAfterMs = 60 * 60 * 1000;
/** Rates that were missed come in late, but not after this: the bank's file of past days reaches no further back. */
const backfillWindowMs = 90 * 24 * 60 * 60 * 1000;
const maxEntries = 1_000;

/**
 * Rates read once a day and container, when first needed; again after an hour while better ones can come in. A failed read is
 * not kept.
 */
export function createRateCache(
  history: Pick<ExchangeRateRepository, 'findForPurchaseDate'>,
  now: () => number,
): ExchangeRates {
  const entries = new Map<string, { readonly at: number; readonly rates: Promise<DailyRates | undefined> }>();
  const read = (day: string, purchaseDate: number): Promise<DailyRates | undefined> => {
    const rates = history.findForPurchaseDate(purchaseDate);
    if (entries.size >= maxEntries) entries.clear();
    const entry = { at: now(), rates };
    entries.set(day, entry);
    rates.then(
      (found) => {
        const isLast = found && (isFinalRate(found.date, purchaseDate) || now() - purchaseDate > backfillWindowMs);
        if (isLast) entries.set(day, { ...entry, at: Number.POSITIVE_INFINITY });
      },
      () => entries.delete(day),
    );
    return rates;
  };
  return {
    async findForDate(purchaseDate) {
      const day = toUtcDay(purchaseDate);
      const present = entries.get(day);
      const isFresh = present && now() - present.at < recheckAfterMs;
      return (await (isFresh ? present.rates : read(day, purchaseDate))) ?? findFallback(purchaseDate);
    },
  };
}

const findFallback = (purchaseDate: number): DailyRates | undefined =>
  Math.abs(purchaseDate - Date.parse(fallbackRates.date)) <= fallbackWindowMs ? fallbackRates : undefined;
