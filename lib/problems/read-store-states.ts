import { listConnectedPlatforms } from '../apps/app-table.ts';
import { countStoreRequests, listStoreActivities } from '../events/store-activity-table.ts';
import { deriveStoreHealth, selectExpiredKeys } from '../events/store-health.ts';
import type { Service } from '../foundation/service.ts';
import { dayMs, type EpochMillis, hourMs } from '../foundation/time.ts';

const toIso = (date: EpochMillis): string => new Date(date).toISOString();

/** Reads the latest activities and the health of the connected stores of an app. */
export async function readStoreStates(service: Service, appName: string) {
  const [platforms, activities] = await Promise.all([
    listConnectedPlatforms(service, appName),
    listStoreActivities(service, appName),
  ]);
  const rows = platforms.map(async (platform) => {
    const find = (kind: string) => activities.find((other) => other.platform === platform && other.kind === kind);
    const [notification, success, failure] = [find('notification'), find('success'), find('failure')];
    const expiredKey = selectExpiredKeys(activities, service.now()).find((activity) => activity.platform === platform);
    const [lastDay, lastHour] = await Promise.all([
      countStoreRequests(service, appName, platform, service.now() - dayMs),
      countStoreRequests(service, appName, platform, service.now() - hourMs),
    ]);
    return {
      platform,
      ...(notification && { lastNotificationAt: toIso(notification.date) }),
      ...(success && { lastSuccessAt: toIso(success.date) }),
      ...(failure && { lastFailure: { date: toIso(failure.date), message: failure.problem ?? '' } }),
      ...(expiredKey && { expiredKey: { date: toIso(expiredKey.date), message: expiredKey.problem ?? '' } }),
      isFailing: failure !== undefined && failure.date > (success?.date ?? 0),
      health: deriveStoreHealth({ notification, success, failure, lastHour }),
      lastHour,
      lastDay,
    };
  });
  return await Promise.all(rows);
}
