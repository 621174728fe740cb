import { DailyRates, getRateWindow } from '../money/daily-rates.ts';
import { parse } from '../shared/parse.ts';
import { ratesKey, ratesPartition } from './keys.ts';
import type { Table } from './table.ts';

/** The history of reference rates, which all applications share. */
export interface ExchangeRateRepository {
  /** The rates in force for a purchase; undefined when there are none recent enough. */
  findForPurchaseDate(purchaseDate: number): Promise<DailyRates | undefined>;
  /** The days, both included, whose rates are kept. */
  listStoredDays(first: string, last: string): Promise<string[]>;
  save(days: readonly DailyRates[]): Promise<void>;
}

/** The history of one table. */
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
