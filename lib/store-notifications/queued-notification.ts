import * as v from 'valibot';
import { Platform } from '../shared/platform.ts';
import { StoreNotification } from '../stores/store.ts';

/** A verified message of a store on its way through the queue. */
export const QueuedNotification = v.object({
  appName: v.string(),
  platform: Platform,
  /** The event that will tell of it: each call of the store, or the look that found what it failed to deliver, has one. */
  eventId: v.string(),
  /** Epoch milliseconds. */
  receivedAt: v.number(),
  /** How often processing it was put off because the store could not be asked. */
  attempt: v.number(),
  notification: StoreNotification,
});
export type QueuedNotification = v.InferOutput<typeof QueuedNotification>;
