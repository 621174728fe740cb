import * as v from 'valibot';

const DeliveryAttempt = v.object({
  /** On the emulated clock. */
  at: v.number(),
  /** What the service answered. */
  status: v.exactOptional(v.number()),
  /** Why there was no answer. */
  failure: v.exactOptional(v.picklist(['timeout', 'no-connection'])),
});
export type DeliveryAttempt = Readonly<v.InferOutput<typeof DeliveryAttempt>>;

/** One copy of a notification on its way to the service, as it is kept and shown. */
export const NotificationDelivery = v.object({
  id: v.string(),
  platform: v.string(),
  purchaseId: v.string(),
  /** When the change happened, on the emulated clock. */
  at: v.number(),
  native: v.record(v.string(), v.unknown()),
  transactionId: v.exactOptional(v.string()),
  url: v.string(),
  /** The same in every copy and in every attempt. */
  body: v.string(),
  state: v.picklist(['held', 'waiting', 'delivered', 'failed']),
  /** When the next attempt is due, on the emulated clock, while it is waiting. */
  dueAt: v.number(),
  attempts: v.pipe(v.array(DeliveryAttempt), v.readonly()),
});
export type NotificationDelivery = Readonly<v.InferOutput<typeof NotificationDelivery>>;

/** The outbox as it is kept over a restart: where notifications go, and all that are on their way or remembered. */
export const SavedOutbox = v.object({
  urls: v.record(v.string(), v.string()),
  deliveries: v.array(NotificationDelivery),
});
export type SavedOutbox = v.InferOutput<typeof SavedOutbox>;

/** A delivery as the control API shows it. */
export function toDeliveryView({ body: _long, dueAt, at, attempts, ...delivery }: NotificationDelivery): object {
  return {
    ...delivery,
    at: formatTime(at),
    attempts: attempts.map((attempt) => ({ ...attempt, at: formatTime(attempt.at) })),
    ...(delivery.state === 'waiting' && { dueAt: formatTime(dueAt) }),
  };
}

const formatTime = (at: number): string => new Date(at).toISOString();
