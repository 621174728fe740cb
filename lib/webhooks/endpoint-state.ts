import * as v from 'valibot';
import type { Millis } from '../purchases/purchase.ts';

/** What is remembered of a URL that does not take webhooks. */
export const EndpointState = v.object({
  /** It answered 410: nothing is sent there until the operator sets or tests it again. */
  offAt: v.exactOptional(v.number()),
  /** It hung or refused the connection: first attempts wait until then. */
  downUntil: v.exactOptional(v.number()),
  /** Times in a row that it hung or refused. */
  failures: v.exactOptional(v.number()),
});
export type EndpointState = v.InferOutput<typeof EndpointState>;

const shortestMs = 30_000;
const longestMs = 30 * 60_000;

/** How long a URL is left alone after so many failures in a row. */
export const downMs = (failures: number): Millis => Math.min(longestMs, shortestMs * 2 ** Math.min(failures - 1, 10));
