import { listConnectedPlatforms } from '../apps/store-settings-table.ts';
import { countStoreRequests, listStoreActivities, type StoreActivity } from '../events/store-activity-table.ts';
import { deriveStoreHealth, isRejectionInForce, selectExpiredKeys } from '../events/store-health.ts';
import { once } from '../foundation/cache.ts';
import { addDays, countDaysBetween } from '../foundation/calendar.ts';
import type { Service } from '../foundation/service.ts';
import { dayMs, type EpochMillis, hourMs, toIso } from '../foundation/time.ts';
import { toReceivedName } from '../statistics/counter-names.ts';
import { type CounterPeriod, listCounterDays } from '../statistics/counter-table.ts';

/** Reads the latest activities and the health of the connected stores of an app. */
export async function readStoreStates(service: Service, appName: string) {
  const [platforms, activities] = await Promise.all([
    listConnectedPlatforms(service, appName),
    listStoreActivities(service, appName),
  ]);
  const listCounters = createRhythmList(service, appName);
  const rows = platforms.map(async (platform) => {
    const find = (kind: string) => activities.find((other) => other.platform === platform && other.kind === kind);
    const now = service.now();
    const [notification, success, failed] = [find('notification'), find('success'), find('failure')];
    const acceptedAt = find('accepted')?.date ?? 0;
    const successAt = Math.max(success?.date ?? 0, acceptedAt);
    const latest = find('rejection');
    const rejection = latest && isRejectionInForce(latest, { acceptedAt, successAt, now }) ? latest : undefined;
    const failure = rejection ?? failed;
    const expiredKey = selectExpiredKeys(activities, now).find((activity) => activity.platform === platform);
    const count = async (since: EpochMillis) => await countStoreRequests(service, appName, platform, since);
    const [lastDay, lastHour] = await Promise.all([count(now - dayMs), count(now - hourMs)]);
    const silence = notification && (await findSilence(notification, { now, listCounters }));
    const recent = acceptedAt > now - hourMs ? await count(acceptedAt) : lastHour;
    return {
      platform,
      ...(notification && { lastNotificationAt: toIso(notification.date) }),
      ...(silence && { silence }),
      ...(success && { lastSuccessAt: toIso(success.date) }),
      ...(failure && { lastFailure: { date: toIso(failure.date), message: failure.problem ?? '' } }),
      ...(expiredKey && { expiredKey: { date: toIso(expiredKey.date), message: expiredKey.problem ?? '' } }),
      isFailing: rejection !== undefined || (failed !== undefined && failed.date > successAt),
      health: deriveStoreHealth({
        notification,
        success: success && { ...success, date: successAt },
        failure: failed && failed.date > acceptedAt ? failed : undefined,
        rejection,
        recent,
      }),
      lastHour,
      lastDay,
    };
  });
  return await Promise.all(rows);
}

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
    return await listCounterDays(service, appName, { days: [addDays(today, 1 - windowDays), today], ...query });
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
  return silentHours < 2 * usualHours ? undefined : { since: toIso(date), usualHours };
}
