import { addDays, addMonths, listDays } from '../shared/calendar.ts';
import type { StoredItem } from '../shared/stream-record.ts';
import { countStoredItem } from './count-item.ts';

/** Lists the days whose counters contain an item, or the days of a counter itself. */
export function listCountedDays(stored: StoredItem): string[] {
  const [, day, month] = /^(?:D#(\d{4}-\d\d-\d\d)|M#(\d{4}-\d\d))$/.exec(String(stored.item.sk)) ?? [];
  if (day !== undefined) return [day];
  if (month !== undefined) return listDays(`${month}-01`, addDays(`${addMonths(month, 1)}-01`, -1));
  const { days, products } = countStoredItem(stored);
  return [...days.keys(), ...products.map((product) => product.day)];
}
