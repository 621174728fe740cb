import * as v from 'valibot';
import { toTtl } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import { parse } from '../foundation/parse.ts';
import type { Platform } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import { dayMs, type EpochMillis } from '../foundation/time.ts';
import { buildMarkerItem } from '../purchases/purchase-writes.ts';

/** A store notification, identified by the store's own idempotency key. */
export interface NotificationKey {
  readonly platform: Platform;
  readonly key: string;
}

/** When an undelivered notification was enqueued, in epoch milliseconds. */
export const EnqueueTimes = v.object({ firstEnqueuedAt: v.number(), lastEnqueuedAt: v.number() });

export type EnqueueTimes = v.InferOutput<typeof EnqueueTimes>;

/** Retention of enqueue times. Longer than the lookback of a recovery. */
const enqueuedRetentionMs = 4 * dayMs;

export async function isNotificationHandled(
  { table }: Service,
  appName: string,
  { platform, key }: NotificationKey,
): Promise<boolean> {
  return (await table.get(keys.handledNotificationKey(appName, platform, key))) !== undefined;
}

/** Marks a notification of no purchase or of several purchases as handled. Idempotent. */
export async function markNotificationHandled(
  { table }: Service,
  appName: string,
  { platform, key }: NotificationKey,
  now: EpochMillis,
): Promise<void> {
  return await table.batchPut([buildMarkerItem(keys.handledNotificationKey(appName, platform, key), now)]);
}

/** Returns when the notification was recovered. Undefined if it was not within the last 4 days. */
export async function findEnqueueTimes(
  { table }: Service,
  appName: string,
  { platform, key }: NotificationKey,
): Promise<EnqueueTimes | undefined> {
  const item = await table.get(keys.enqueuedNotificationKey(appName, platform, key));
  return item && parse(EnqueueTimes, item, 'DatabaseError');
}

export async function markNotificationsEnqueued(
  { table }: Service,
  appName: string,
  notifications: readonly (NotificationKey & EnqueueTimes)[],
): Promise<void> {
  return await table.batchPut(
    notifications.map(({ platform, key, firstEnqueuedAt, lastEnqueuedAt }) => ({
      ...keys.enqueuedNotificationKey(appName, platform, key),
      firstEnqueuedAt,
      lastEnqueuedAt,
      ttl: toTtl(lastEnqueuedAt + enqueuedRetentionMs),
    })),
  );
}
