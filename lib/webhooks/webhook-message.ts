import * as v from 'valibot';
import { OptionalNumber, OptionalText } from '../api/schemas.ts';

/** A message of the webhook queue: a delivery to attempt. */
export const WebhookMessage = v.object({
  appName: v.string(),
  deliveryId: v.string(),
  /** Failed attempts before the requested one. Absent if a due item requests the next attempt, whichever it is. */
  failedAttempts: OptionalNumber,
  /** The event that records the cause of the webhook. For the log. */
  eventId: OptionalText,
});
export type WebhookMessage = v.InferOutput<typeof WebhookMessage>;
