import * as v from 'valibot';
import { formatTime } from './calendar.ts';

const DeliveryAttempt = v.object({
  /** Time of the attempt, on the emulated clock. */
  at: v.number(),
  /** HTTP status of the response. */
  status: v.exactOptional(v.number()),
  /** Reason for a missing response. */
  failure: v.exactOptional(v.picklist(['timeout', 'no-connection'])),
});
export type DeliveryAttempt = Readonly<v.InferOutput<typeof DeliveryAttempt>>;

/** State of a delivery. A failed one is not sent again. */
export const DeliveryState = v.picklist(['held', 'waiting', 'delivered', 'failed']);
export type DeliveryState = v.InferOutput<typeof DeliveryState>;

/** Delivery of one copy of a notification to the service. */
export const NotificationDelivery = v.object({
  id: v.string(),
  platform: v.string(),
  purchaseId: v.string(),
  /** Time of the change, on the emulated clock. */
  at: v.number(),
  native: v.record(v.string(), v.unknown()),
  transactionId: v.exactOptional(v.string()),
  url: v.string(),
  /** Request body, identical in all copies and attempts. */
  body: v.string(),
  state: DeliveryState,
  /** Time of the next attempt in state `waiting`, on the emulated clock. */
  dueAt: v.number(),
  attempts: v.pipe(v.array(DeliveryAttempt), v.readonly()),
});
export type NotificationDelivery = Readonly<v.InferOutput<typeof NotificationDelivery>>;

/** Outbox in the state file. */
export const SavedOutbox = v.object({
  urls: v.record(v.string(), v.string()),
  deliveries: v.array(NotificationDelivery),
});
export type SavedOutbox = v.InferOutput<typeof SavedOutbox>;

/** Converts a delivery for responses of the control API. */
export function toDeliveryView({ body: _omitted, dueAt, at, attempts, ...delivery }: NotificationDelivery): object {
  return {
    ...delivery,
    at: formatTime(at),
    attempts: attempts.map((attempt) => ({ ...attempt, at: formatTime(attempt.at) })),
    ...(delivery.state === 'waiting' && { dueAt: formatTime(dueAt) }),
  };
}
