import * as v from 'valibot';
import { parse } from '../shared/parse.ts';
import type { Platform } from '../shared/platform.ts';
import type { EpochMillis } from '../shared/time.ts';
import * as keys from './keys.ts';
import type { Table, Write } from './table.ts';

/** A message of a store, known by the store's own idempotency key. */
interface NotificationKey {
  readonly platform: Platform;
  readonly key: string;
}

/** When looks at the store put a message on the queue, in epoch milliseconds. */
const EnqueueTimes = v.object({ firstEnqueuedAt: v.number(), lastEnqueuedAt: v.number() });
type EnqueueTimes = v.InferOutput<typeof EnqueueTimes>;

/** Which messages of the stores have been handled, and which are on their way to that. */
export interface HandledNotificationRepository {
  isHandled(appName: string, message: NotificationKey): Promise<boolean>;
  /** For a message that changed no purchase, or several. Twice is once. */
  markHandled(appName: string, message: NotificationKey, now: EpochMillis): Promise<void>;
  /** Undefined for a message that no look has put on the queue in the last days. */
  findEnqueued(appName: string, message: NotificationKey): Promise<EnqueueTimes | undefined>;
  markEnqueued(appName: string, messages: readonly (NotificationKey & EnqueueTimes)[]): Promise<void>;
}

/** Longer than any store repeats a message. */
const retentionMs = 30 * 24 * 60 * 60 * 1000;
const ttl = (now: EpochMillis): number => Math.floor((now + retentionMs) / 1000);
/** Longer than a look goes back. */
const enqueuedRetentionMs = 4 * 24 * 60 * 60 * 1000;

export function createHandledNotificationRepository(table: Table): HandledNotificationRepository {
  return {
    isHandled: async (appName, { platform, key }) =>
      (await table.get(keys.handledNotificationKey(appName, platform, key))) !== undefined,
    markHandled: async (appName, { platform, key }, now) =>
      await table.batchPut([{ ...keys.handledNotificationKey(appName, platform, key), ttl: ttl(now) }]),
    async findEnqueued(appName, { platform, key }) {
      const item = await table.get(keys.enqueuedNotificationKey(appName, platform, key));
      return item && parse(EnqueueTimes, item, 'DatabaseError');
    },
    markEnqueued: async (appName, messages) =>
      await table.batchPut(
        messages.map(({ platform, key, firstEnqueuedAt, lastEnqueuedAt }) => ({
          ...keys.enqueuedNotificationKey(appName, platform, key),
          ...{ firstEnqueuedAt, lastEnqueuedAt, ttl: Math.floor((lastEnqueuedAt + enqueuedRetentionMs) / 1000) },
        })),
      ),
  };
}

/** A message while a purchase that it tells of is recorded. */
export interface NotificationPart extends NotificationKey {
  /** Whether the message tells of other purchases as well. */
  readonly isOneOfSeveral: boolean;
}

export const handledPartKey = (
  appName: string,
  { platform, key, isOneOfSeveral }: NotificationPart,
  purchaseId: string,
): keys.Key =>
  isOneOfSeveral
    ? keys.handledNotificationPartKey(appName, { platform, key }, purchaseId)
    : keys.handledNotificationKey(appName, platform, key);

/** Marks the message in the transaction that takes it in; that fails when another worker took it in first. */
export const buildHandledMarker = (table: string, key: keys.Key, now: EpochMillis): Write => ({
  Put: { TableName: table, Item: { ...key, ttl: ttl(now) }, ConditionExpression: 'attribute_not_exists(pk)' },
});
