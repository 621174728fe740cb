import { type Key, toTtl } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import type { Write } from '../foundation/table.ts';
import { dayMs, type EpochMillis } from '../foundation/time.ts';
import type { NotificationPart } from './stored-purchase.ts';

/** Retention of handled markers. Longer than any store resends a notification. */
const retentionMs = 30 * dayMs;

/**
 * Builds the key of the handled marker of one purchase. The only purchase of a notification uses the notification's
 * key.
 */
export const handledPartKey = (
  appName: string,
  { platform, key, isPartOfSeveral }: NotificationPart,
  purchaseId: string,
): Key =>
  isPartOfSeveral
    ? keys.handledNotificationPartKey(appName, platform, key, purchaseId)
    : keys.handledNotificationKey(appName, platform, key);

/** Builds the conditional write of a handled marker. It fails if another worker has handled the notification. */
export const buildHandledMarker = (table: string, key: Key, now: EpochMillis): Write => ({
  Put: { TableName: table, Item: buildMarkerItem(key, now), ConditionExpression: 'attribute_not_exists(pk)' },
});

export const buildMarkerItem = (key: Key, now: EpochMillis) => ({ ...key, ttl: toTtl(now + retentionMs) });
