import { DailyRates, getRateWindow } from '../money/daily-rates.ts';
import { parse } from '../shared/parse.ts';
import type { EpochMillis } from '../shared/time.ts';
import { ratesKey, ratesPartition } from './keys.ts';
import type { Table } from './table.ts';

/** The stored reference rates. All apps share them. */
export interface ExchangeRateRepository {
  /** Returns the rates in force on the purchase date. Undefined if none are recent enough. */
  findForPurchaseDate(purchaseDate: EpochMillis): Promise<DailyRates | undefined>;
  /** Lists the stored days (`YYYY-MM-DD`) from the first to the last, both included. */
  listStoredDays(first: string, last: string): Promise<string[]>;
  save(days: readonly DailyRates[]): Promise<void>;
}

export function createExchangeRateRepository(table: Table): ExchangeRateRepository {
  return {
    async findForPurchaseDate(purchaseDate) {
      const [item] = await table.query({
        partition: ratesPartition,
        between: getRateWindow(purchaseDate),
        newestFirst: true,
        limit: 1,
        isEventuallyConsistent: true,
      });
      return item && parse(DailyRates, item, 'DatabaseError');
    },
    async listStoredDays(first, last) {
      const items = await table.query({ partition: ratesPartition, between: [first, last] });
      return items.map(({ sk }) => String(sk));
    },
    async save(days) {
      await table.batchPut(days.map((day) => ({ ...ratesKey(day.date), ...day })));
    },
  };
}
