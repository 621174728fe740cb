import type { StoreActivity } from '../events/store-activity.ts';
import { addDays, countDaysBetween } from '../foundation/calendar.ts';
import { once } from '../foundation/once.ts';
import type { Service } from '../foundation/service.ts';
import { type EpochMillis, hourMs } from '../foundation/time.ts';
import { toReceivedName } from '../statistics/counter-names.ts';
import { type CounterPeriod, listCounterDays } from '../statistics/counter-table.ts';

/** Days of which the rhythm of a store is derived, and the minimum number of them with notifications. */
const windowDays = 28;
const minDays = 8;

/** A store that sends as many notifications each day sends some at night, too. */
const busyCount = 500;
const busyHours = 3;

/** Returns a function that reads the counters of an app once, from which the rhythms of all its stores are derived. */
export const createRhythmList = (service: Service, appName: string): (() => Promise<readonly CounterPeriod[]>) =>
  once(async () => {
    const today = new Date(service.now()).toISOString().slice(0, 10);
    const query = { isEventuallyConsistent: true };
    return await listCounterDays(service, appName, addDays(today, 1 - windowDays), today, query);
  });

/**
 * Returns the silence of a store whose last notification is twice as old as the longest usual time between two.
 * Undefined for a store without a rhythm. Reads the counters only after six hours without a notification.
 */
export async function findSilence(
  { platform, date }: StoreActivity,
  { now, listCounters }: { readonly now: EpochMillis; listCounters(): Promise<readonly CounterPeriod[]> },
) {
  const silentHours = (now - date) / hourMs;
  if (silentHours < 2 * busyHours) return undefined;
  const days = (await listCounters()).flatMap(({ period, counts }) => {
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
