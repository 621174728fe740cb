import { apps } from '../../composition/apps.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { table } from '../../composition/table.ts';
import { listStores } from '../../lib/api/stores.ts';
import { createStoreActivityRepository } from '../../lib/db/store-activity-repository.ts';
import { deriveStoreHealth } from '../../lib/events/store-health.ts';
import { dayMs, type EpochMillis, hourMs } from '../../lib/shared/time.ts';
import { buildNotificationUrl } from '../../lib/store-notifications/notification-urls.ts';

const toIso = (date: EpochMillis): string => new Date(date).toISOString();

export const handler = createHandler(listStores, () => ({
  apps: apps(),
  now,
  storeActivities: createStoreActivityRepository(table()),
}))(async ({ app: { name }, baseUrl }, { apps, storeActivities, now }) => {
  const [platforms, activities] = await Promise.all([apps.listConnectedPlatforms(name), storeActivities.list(name)]);
  const rows = platforms.map(async (platform) => {
    const find = (kind: string) => activities.find((other) => other.platform === platform && other.kind === kind);
    const [notification, success, failure] = [find('notification'), find('success'), find('failure')];
    const [lastDay, lastHour] = await Promise.all([
      storeActivities.countRequests(name, platform, now() - dayMs),
      storeActivities.countRequests(name, platform, now() - hourMs),
    ]);
    const notificationUrl = buildNotificationUrl(baseUrl, name, platform);
    return {
      platform,
      ...(notificationUrl && { notificationUrl }),
      ...(notification && { lastNotificationAt: toIso(notification.date) }),
      ...(success && { lastSuccessAt: toIso(success.date) }),
      ...(failure && { lastFailure: { date: toIso(failure.date), message: failure.problem ?? '' } }),
      isFailing: failure !== undefined && failure.date > (success?.date ?? 0),
      health: deriveStoreHealth({ notification, success, failure, lastHour }),
      lastHour,
      lastDay,
    };
  });
  return { appName: name, rows: await Promise.all(rows) };
});
