import { maxQueueDelaySeconds } from '../foundation/message-queue.ts';
import { type EpochMillis, hourMs, minuteMs, secondMs } from '../foundation/time.ts';

/** Minimum delay after each failed attempt. After the last attempt, the delivery is dead. */
export const retryDelaysMs: readonly number[] = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
];

/** Age from which a delivery is not postponed, one hour more than all attempts take. */
export const maxRetryDurationMs: number = retryDelaysMs.reduce((sum, delayMs) => sum + delayMs, hourMs);

/** Longer delays are due items. */
export const maxQueueDelayMs: number = maxQueueDelaySeconds * secondMs;

const jitter = 0.1;
const maxRetryAfterMs = 24 * hourMs;

interface FailedAttempt {
  /** Number of failed attempts, including this one. */
  readonly failedAttempts: number;
  /** Delay that the server requested. */
  readonly retryAfterMs?: number;
  /** Random number from 0 to 1: spreads deliveries that failed at the same time. */
  readonly random: number;
}

/** Returns undefined after the last attempt. The server can request a longer delay, of at most one day. */
export function computeRetryDelayMs({ failedAttempts, retryAfterMs = 0, random }: FailedAttempt): number | undefined {
  const delayMs = retryDelaysMs[failedAttempts - 1];
  if (delayMs === undefined) return undefined;
  return Math.ceil(Math.max(delayMs, Math.min(retryAfterMs, maxRetryAfterMs)) * (1 + jitter * random));
}

/** IMF-fixdate and the obsolete RFC 850 format. */
const httpDate = /^[A-Z][a-z]{2,8}, .{1,30} GMT$/;

/** The obsolete format of C's `asctime`, always in GMT. */
const asctimeDate = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

/**
 * Parses a `Retry-After` header: a number of seconds, or a date in one of three formats. Returns a duration in
 * milliseconds, or undefined for any other text.
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3
 */
export function parseRetryAfterMs(header: string | undefined, now: EpochMillis): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * secondMs;
  const isDate = httpDate.test(text) || asctimeDate.test(text);
  const retryAt = isDate ? Date.parse(text.replace(asctimeDate, '$& GMT')) : Number.NaN;
  return Number.isNaN(retryAt) ? undefined : Math.max(0, retryAt - now);
}
