import { getLastDay, isDay, listDays } from '../foundation/calendar.ts';
import type { StoredItem } from '../foundation/stream-record.ts';
import { counterScopes } from './count-item.ts';

const listPeriodDays = (period: string): string[] =>
  isDay(period) ? [period] : listDays(`${period}-01`, getLastDay(period));

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
