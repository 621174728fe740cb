import * as keys from '../foundation/keys.ts';
import type { Table, Write } from '../foundation/table.ts';
import type { NotificationPart } from '../purchases/purchase-repository.ts';
import { parse } from '../shared/parse.ts';
import { dayMs, type EpochMillis } from '../shared/time.ts';
import {
  EnqueueTimes,
  type HandledNotificationRepository,
} from '../store-notifications/handled-notification-repository.ts';

/** Retention of handled markers. Longer than any store resends a notification. */
const retentionMs = 30 * dayMs;
/** Retention of enqueue times. Longer than the lookback of a recovery. */
const enqueuedRetentionMs = 4 * dayMs;

export function createHandledNotificationRepository(table: Table): HandledNotificationRepository {
  return {
    isHandled: async (appName, { platform, key }) =>
      (await table.get(keys.handledNotificationKey(appName, platform, key))) !== undefined,
    markHandled: async (appName, { platform, key }, now) =>
      await table.batchPut([buildMarkerItem(keys.handledNotificationKey(appName, platform, key), now)]),
    async findEnqueued(appName, { platform, key }) {
      const item = await table.get(keys.enqueuedNotificationKey(appName, platform, key));
      return item && parse(EnqueueTimes, item, 'DatabaseError');
    },
    markEnqueued: async (appName, notifications) =>
      await table.batchPut(
        notifications.map(({ platform, key, firstEnqueuedAt, lastEnqueuedAt }) => ({
          ...keys.enqueuedNotificationKey(appName, platform, key),
          firstEnqueuedAt,
          lastEnqueuedAt,
          ttl: keys.toTtl(lastEnqueuedAt + enqueuedRetentionMs),
        })),
      ),
  };
}

/**
 * Builds the key of the handled marker of one purchase. The only purchase of a notification uses the notification's
 * key.
 */
export const handledPartKey = (
  appName: string,
  { platform, key, isPartOfSeveral }: NotificationPart,
  purchaseId: string,
): keys.Key =>
  isPartOfSeveral
    ? keys.handledNotificationPartKey(appName, { platform, key }, purchaseId)
    : keys.handledNotificationKey(appName, platform, key);

/** Builds the conditional write of a handled marker. It fails if another worker has handled the notification. */
export const buildHandledMarker = (table: string, key: keys.Key, now: EpochMillis): Write => ({
  Put: { TableName: table, Item: buildMarkerItem(key, now), ConditionExpression: 'attribute_not_exists(pk)' },
});

const buildMarkerItem = (key: keys.Key, now: EpochMillis) => ({ ...key, ttl: keys.toTtl(now + retentionMs) });
