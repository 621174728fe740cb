import type { StoreActivity } from '../events/store-activity.ts';
import { addDays, countDaysBetween } from '../foundation/calendar.ts';
import type { Service } from '../foundation/service.ts';
import { hourMs } from '../foundation/time.ts';
import { toReceivedName } from '../statistics/counter-names.ts';
import { listCounterDays } from '../statistics/counter-table.ts';

/** Days of which the rhythm of a store is derived, and the minimum number of them with notifications. */
const windowDays = 28;
const minDays = 8;

/** A store that sends as many notifications each day sends some at night, too. */
const busyCount = 500;
const busyHours = 3;

/**
 * Returns the silence of a store whose last notification is twice as old as the longest usual time between two.
 * Undefined for a store without a rhythm. Reads the counters only after six hours without a notification.
 */
export async function findSilence(service: Service, appName: string, { platform, date }: StoreActivity) {
  const silentHours = (service.now() - date) / hourMs;
  if (silentHours < 2 * busyHours) return undefined;
  const today = new Date(service.now()).toISOString().slice(0, 10);
  const query = { isEventuallyConsistent: true };
  const counters = await listCounterDays(service, appName, addDays(today, 1 - windowDays), today, query);
  const days = counters.flatMap(({ period, counts }) => {
    const count = counts[toReceivedName(platform)] ?? 0;
    return count > 0 ? [{ day: period, count }] : [];
  });
  if (days.length < minDays) return undefined;
  const gaps = days.slice(1).map(({ day }, index) => countDaysBetween(days[index]?.day ?? day, day));
  const longestGap = Math.max(...gaps);
  // The first and the last day can be incomplete.
  const isBusy = longestGap === 1 && days.slice(1, -1).every(({ count }) => count >= busyCount);
  const usualHours = isBusy ? busyHours : longestGap * 24;
  return silentHours < 2 * usualHours ? undefined : { since: new Date(date).toISOString(), usualHours };
}
