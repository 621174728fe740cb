import * as v from 'valibot';
import { Platform } from '../foundation/platform.ts';

/** The received request of a store. */
export const ForwardContent = v.object({
  body: v.string(),
  /** Headers that belong to the body. `authorization` is removed for URLs that do not receive it. */
  headers: v.record(v.string(), v.string()),
});
export type ForwardContent = v.InferOutput<typeof ForwardContent>;

/** A verified store notification to forward to all URLs of the app. */
export const StoreMessage = v.object({
  appName: v.string(),
  platform: Platform,
  /** Idempotency key: the store's id of the notification. */
  key: v.string(),
  /** The purchase whose messages are sent in order, or the key if the message lacks one. */
  order: v.string(),
  occurredAt: v.number(),
  receivedAt: v.number(),
  /** The event that records the notification. */
  eventId: v.exactOptional(v.string()),
  content: ForwardContent,
});
export type StoreMessage = v.InferOutput<typeof StoreMessage>;

/** An attempt to forward a message to one URL. */
const ForwardAttempt = v.object({
  appName: v.string(),
  deliveryId: v.string(),
  /** Failed attempts before the requested one. Absent if the delivery is due or the message before it is sent. */
  failedAttempts: v.exactOptional(v.number()),
});
export type ForwardAttempt = v.InferOutput<typeof ForwardAttempt>;

/** A message of the queue of forwards. */
export const ForwardMessage = v.union([StoreMessage, ForwardAttempt]);
export type ForwardMessage = v.InferOutput<typeof ForwardMessage>;
