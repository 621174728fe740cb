import { ratesKey } from '../../foundation/keys.ts';
import { parse } from '../../foundation/parse.ts';
import type { Service } from '../../foundation/service.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import { DailyRates, getRateWindow } from '../rates.ts';

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
