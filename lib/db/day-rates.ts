import { DayRates, goodDays } from '../money/day-rates.ts';
import { parse } from '../parse.ts';
import { ratesKey, ratesPartition } from './keys.ts';
import type { Table } from './table.ts';

/** The history of reference rates, which all applications share. */
export interface DayRatesHistory {
  /** The rates in force for a purchase; undefined when there are none recent enough. */
  before(purchaseDate: number): Promise<DayRates | undefined>;
  /** The days, both included, whose rates are kept. */
  daysBetween(first: string, last: string): Promise<string[]>;
  keep(days: readonly DayRates[]): Promise<void>;
}

/** The history of one table. */
export function dayRatesOf(table: Table): DayRatesHistory {
  return {
    async before(purchaseDate) {
      const [item] = await table.query({
        partition: ratesPartition,
        between: goodDays(purchaseDate),
        newestFirst: true,
        limit: 1,
        eventually: true,
      });
      return item && parse(DayRates, item, 'DatabaseError');
    },
    async daysBetween(first, last) {
      const items = await table.query({ partition: ratesPartition, between: [first, last] });
      return items.map(({ sk }) => String(sk));
    },
    async keep(days) {
      await table.batchPut(days.map((day) => ({ ...ratesKey(day.date), ...day })));
    },
  };
}
