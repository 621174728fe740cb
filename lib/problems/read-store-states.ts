import type { AppRepository } from '../apps/app-repository.ts';
import type { StoreActivity } from '../events/store-activity.ts';
import { deriveStoreHealth, selectExpiredKeys } from '../events/store-health.ts';
import type { Platform } from '../shared/platform.ts';
import { dayMs, type EpochMillis, hourMs } from '../shared/time.ts';

export interface StoreStateDeps {
  readonly apps: Pick<AppRepository, 'listConnectedPlatforms'>;
  readonly storeActivities: {
    list(appName: string): Promise<readonly StoreActivity[]>;
    countRequests(
      appName: string,
      platform: Platform,
      since: EpochMillis,
    ): Promise<{ readonly numRequests: number; readonly numFailures: number }>;
  };
  now(): EpochMillis;
}

const toIso = (date: EpochMillis): string => new Date(date).toISOString();

/** Reads the latest activities and the health of the connected stores of an app. */
export async function readStoreStates(appName: string, { apps, storeActivities, now }: StoreStateDeps) {
  const [platforms, activities] = await Promise.all([
    apps.listConnectedPlatforms(appName),
    storeActivities.list(appName),
  ]);
  const rows = platforms.map(async (platform) => {
    const find = (kind: string) => activities.find((other) => other.platform === platform && other.kind === kind);
    const [notification, success, failure] = [find('notification'), find('success'), find('failure')];
    const expiredKey = selectExpiredKeys(activities, now()).find((activity) => activity.platform === platform);
    const [lastDay, lastHour] = await Promise.all([
      storeActivities.countRequests(appName, platform, now() - dayMs),
      storeActivities.countRequests(appName, platform, now() - hourMs),
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
