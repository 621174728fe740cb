import { ratesKey, ratesPartition } from '../foundation/keys.ts';
import type { Table } from '../foundation/table.ts';
import { DailyRates, getRateWindow } from '../money/daily-rates.ts';
import type { ExchangeRateRepository } from '../money/exchange-rates/exchange-rate-repository.ts';
import { parse } from '../shared/parse.ts';

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
