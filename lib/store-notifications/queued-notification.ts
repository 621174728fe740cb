import * as v from 'valibot';
import { OptionalTrue } from '../api/schemas.ts';
import { Platform } from '../foundation/platform.ts';
import { StoreNotification } from '../stores/store.ts';

/** A message of the notification queue: a verified store notification. */
export const QueuedNotification = v.object({
  appName: v.string(),
  platform: Platform,
  /** Id of the event that records the processing. Stable, so a retry overwrites the event. */
  eventId: v.string(),
  /** Epoch milliseconds. */
  receivedAt: v.number(),
  /** Number of earlier attempts that failed because the store was unavailable. */
  attempt: v.number(),
  notification: StoreNotification,
  /** The store pushes notifications, and this one was requested: it does not prove that the notification URL works. */
  isRecovered: OptionalTrue,
});
export type QueuedNotification = v.InferOutput<typeof QueuedNotification>;
