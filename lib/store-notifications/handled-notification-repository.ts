import * as v from 'valibot';
import type { Platform } from '../shared/platform.ts';
import type { EpochMillis } from '../shared/time.ts';

/** A store notification, identified by the store's own idempotency key. */
interface NotificationKey {
  readonly platform: Platform;
  readonly key: string;
}

/** When an undelivered notification was enqueued, in epoch milliseconds. */
export const EnqueueTimes = v.object({ firstEnqueuedAt: v.number(), lastEnqueuedAt: v.number() });

export type EnqueueTimes = v.InferOutput<typeof EnqueueTimes>;

/** The handled and the recovered store notifications of all apps. */
export interface HandledNotificationRepository {
  isHandled(appName: string, notification: NotificationKey): Promise<boolean>;
  /** Marks a notification of no purchase or of several purchases as handled. Idempotent. */
  markHandled(appName: string, notification: NotificationKey, now: EpochMillis): Promise<void>;
  /** Returns when the notification was recovered. Undefined if it was not within the last 4 days. */
  findEnqueued(appName: string, notification: NotificationKey): Promise<EnqueueTimes | undefined>;
  markEnqueued(appName: string, notifications: readonly (NotificationKey & EnqueueTimes)[]): Promise<void>;
}
