import { addDays, addMonths, listDays } from '../foundation/calendar.ts';
import type { StoredItem } from '../foundation/stream-record.ts';
import { counterScopes } from './count-item.ts';

const listPeriodDays = (period: string): string[] =>
  period.length === 'YYYY-MM-DD'.length
    ? [period]
    : listDays(`${period}-01`, addDays(`${addMonths(period, 1)}-01`, -1));

/** Lists the days whose counters contain an item, or the days of a counter itself. */
export function listCountedDays(stored: StoredItem): string[] {
  const [, day, month] = /^(?:D#(\d{4}-\d\d-\d\d)|M#(\d{4}-\d\d))(?:#|$)/.exec(String(stored.item.sk)) ?? [];
  const period = day ?? month;
  if (period !== undefined) return listPeriodDays(period);
  return counterScopes.flatMap(({ count }) => {
    const { days, products, figures } = count(stored);
    return [
      ...days.keys(),
      ...products.map((product) => product.day),
      ...figures.flatMap(({ period }) => listPeriodDays(period)),
    ];
  });
}
