import type { EpochMillis } from '../shared/time.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** How long after each failed attempt the next one comes, at least; after the last the delivery is dead. */
export const retryDelaysMs: readonly EpochMillis[] = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];

/** A delivery that was held back because its URL is down is dead after as long as the attempts would have taken. */
export const maxRetryDurationMs: number = retryDelaysMs.reduce((sum, wait) => sum + wait, hour);

/** Waits up to this long are delays of the queue. */
export const maxQueueDelayMs: number = 15 * minute;

const jitter = 0.1;
const maxRetryAfterMs = 24 * hour;

interface FailedAttempt {
  /** Attempts that failed, this one included. */
  readonly attempts: number;
  /** Milliseconds that the server asked for. */
  readonly retryAfterMs?: number;
  /** From 0 to 1: spreads what failed together. */
  readonly random: number;
}

/** How long to wait for the next attempt; undefined after the last. The server may ask for longer, up to a day. */
export function computeRetryDelayMs({ attempts, retryAfterMs = 0, random }: FailedAttempt): number | undefined {
  const wait = retryDelaysMs[attempts - 1];
  if (wait === undefined) return undefined;
  return Math.ceil(Math.max(wait, Math.min(retryAfterMs, maxRetryAfterMs)) * (1 + jitter * random));
}

const httpDate = /^[A-Z][a-z]{2,8}, .{1,30} GMT$/;
/** As C writes it, in the one zone that HTTP has; RFC 9110 has recipients understand it. */
const asctimeDate = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

/** `Retry-After` in milliseconds: a number of seconds or a date; undefined for anything else. */
export function parseRetryAfterMs(header: string | undefined, now: EpochMillis): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * second;
  const isDate = httpDate.test(text) || asctimeDate.test(text);
  const at = isDate ? Date.parse(text.replace(asctimeDate, '$& GMT')) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
