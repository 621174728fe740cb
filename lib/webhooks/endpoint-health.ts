import * as v from 'valibot';

/** What is remembered of a URL that does not take webhooks. */
export const WebhookUrlHealth = v.object({
  /** It answered 410: nothing is sent there until the operator sets or tests it again. */
  disabledAt: v.exactOptional(v.number()),
  /** It hung or refused the connection: first attempts wait until then. */
  backoffUntil: v.exactOptional(v.number()),
  /** Times in a row that it hung or refused. */
  consecutiveFailures: v.exactOptional(v.number()),
});
export type WebhookUrlHealth = v.InferOutput<typeof WebhookUrlHealth>;

const minBackoffMs = 30_000;
const maxBackoffMs = 30 * 60_000;

/** How long a URL is left alone after so many failures in a row. */
export const computeUrlBackoffMs = (failures: number): number =>
  Math.min(maxBackoffMs, minBackoffMs * 2 ** Math.min(failures - 1, 10));
