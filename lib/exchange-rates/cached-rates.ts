import type { DayRatesHistory } from '../db/day-rates.ts';
import { type DayRates, dayOf, isBest } from '../money/day-rates.ts';
import { snapshot } from './snapshot.ts';

/** The rates that purchases are converted with. */
export interface Rates {
  /** The rates in force on the day of a purchase; undefined when there are none near enough. */
  of(purchaseDate: number): Promise<DayRates | undefined>;
}

/** An estimate of a currency's worth is given for this long before and after the snapshot, then none. */
const estimateMs = 3 * 366 * 24 * 60 * 60 * 1000;
/** How long a day may be met without rates that have come in since. */
const passingMs = 60 * 60 * 1000;
/** Rates that were missed come in late, but not after this: the bank's file of past days reaches no further back. */
const healedMs = 90 * 24 * 60 * 60 * 1000;
const largest = 1_000;

/**
 * Rates read once a day and container, when first needed; again after an hour while better ones can come in. A failed read is
 * not kept.
 */
export function cachedRates(history: Pick<DayRatesHistory, 'before'>, now: () => number): Rates {
  const known = new Map<string, { readonly at: number; readonly rates: Promise<DayRates | undefined> }>();
  const read = (day: string, purchaseDate: number): Promise<DayRates | undefined> => {
    const rates = history.before(purchaseDate);
    if (known.size >= largest) known.clear();
    const entry = { at: now(), rates };
    known.set(day, entry);
    rates.then(
      (found) => {
        const isLast = found && (isBest(found.date, purchaseDate) || now() - purchaseDate > healedMs);
        if (isLast) known.set(day, { ...entry, at: Number.POSITIVE_INFINITY });
      },
      () => known.delete(day),
    );
    return rates;
  };
  return {
    async of(purchaseDate) {
      const day = dayOf(purchaseDate);
      const present = known.get(day);
      const isFresh = present && now() - present.at < passingMs;
      return (await (isFresh ? present.rates : read(day, purchaseDate))) ?? estimate(purchaseDate);
    },
  };
}

const estimate = (purchaseDate: number): DayRates | undefined =>
  Math.abs(purchaseDate - Date.parse(snapshot.date)) <= estimateMs ? snapshot : undefined;
