import type { EpochMillis } from '../../shared/time.ts';
import type { DailyRates } from '../daily-rates.ts';

/** The stored reference rates. All apps share them. */
export interface ExchangeRateRepository {
  /** Returns the rates in force on the purchase date. Undefined if none are recent enough. */
  findForPurchaseDate(purchaseDate: EpochMillis): Promise<DailyRates | undefined>;
  /** Lists the stored days (`YYYY-MM-DD`) from the first to the last, both included. */
  listStoredDays(first: string, last: string): Promise<string[]>;
  save(days: readonly DailyRates[]): Promise<void>;
}
