import * as v from 'valibot';
import { OptionalNumber, OptionalText } from '../api/schemas.ts';
import { computeBackoffMs, minuteMs, secondMs } from '../foundation/time.ts';

/** Stored state of a webhook URL that rejects webhooks or does not respond; times in epoch milliseconds. */
export const WebhookUrlHealth = v.object({
  /** Set when the server responds with 410 Gone: nothing is sent until the operator sets or tests the URL again. */
  disabledAt: OptionalNumber,
  /** First attempts are postponed until this time, because the server timed out or refused the connection. */
  backoffUntil: OptionalNumber,
  /** Consecutive timeouts and refused connections. */
  consecutiveFailures: OptionalNumber,
  /** Time and reason of the first failed attempt after a success. Tests do not count. */
  failingSince: OptionalNumber,
  failureReason: OptionalText,
});
export type WebhookUrlHealth = v.InferOutput<typeof WebhookUrlHealth>;

export const computeUrlBackoffMs = (consecutiveFailures: number): number =>
  computeBackoffMs(consecutiveFailures, { firstMs: 30 * secondMs, maxMs: 30 * minuteMs });
