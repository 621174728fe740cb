import { listConnectedPlatforms } from '../apps/app-table.ts';
import { countStoreRequests, listStoreActivities } from '../events/store-activity-table.ts';
import { deriveStoreHealth, isRejectionInForce, selectExpiredKeys } from '../events/store-health.ts';
import type { Service } from '../foundation/service.ts';
import { dayMs, type EpochMillis, hourMs } from '../foundation/time.ts';
import { createRhythmList, findSilence } from './find-silence.ts';

const toIso = (date: EpochMillis): string => new Date(date).toISOString();

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
