import * as v from 'valibot';

/** A message of the webhook queue. Due items do not have `failedAttempts`; the stored delivery then decides. */
export const WebhookMessage = v.object({
  appName: v.string(),
  deliveryId: v.string(),
  failedAttempts: v.exactOptional(v.number()),
});
export type WebhookMessage = v.InferOutput<typeof WebhookMessage>;
