import type { EpochMillis } from '../shared/time.ts';
import type { WebhookDelivery } from './delivery.ts';
import type { PostOutcome } from './guarded-post.ts';
import { computeRetryDelayMs, maxQueueDelayMs, parseRetryAfterMs } from './retry-schedule.ts';

/** A delay of the queue that is longer overdue than this has been lost. */
const lostMessageGraceMs = 60_000;

interface AttemptClock {
  readonly now: EpochMillis;
  /** From 0 to 1. */
  readonly random: number;
}

const isSuccess = (posted: PostOutcome): boolean => 'status' in posted && posted.status >= 200 && posted.status < 300;
export const isGoneResponse = (posted: PostOutcome): boolean => 'status' in posted && posted.status === 410;

/** What went wrong, in a sentence; undefined for a success. */
export function describeFailure(posted: PostOutcome): string | undefined {
  if (isSuccess(posted)) return undefined;
  return 'status' in posted ? `The server answered ${posted.status}.` : posted.message;
}

/** The delivery after an attempt: delivered, waiting for the next one, or dead. */
export function applyAttempt(
  delivery: WebhookDelivery,
  posted: PostOutcome,
  { now, random }: AttemptClock,
): WebhookDelivery {
  const failureReason = describeFailure(posted);
  const base = { ...clearSchedule(delivery), ...('status' in posted && { lastHttpStatus: posted.status }) };
  if (failureReason === undefined) return { ...base, state: 'delivered' };
  const failedAttempts = delivery.failedAttempts + 1;
  const requestedDelayMs = 'status' in posted ? parseRetryAfterMs(posted.retryAfter, now) : undefined;
  const wait = computeRetryDelayMs({
    attempts: failedAttempts,
    random,
    ...(requestedDelayMs !== undefined && { retryAfterMs: requestedDelayMs }),
  });
  // A test is for somebody who watches.
  if (wait === undefined || isGoneResponse(posted) || delivery.type === 'test')
    return { ...base, failedAttempts, failureReason, state: 'dead' };
  return { ...base, failedAttempts, failureReason, ...scheduleNextAttempt(now + wait, now) };
}

/** The delivery that gets no attempt: its application or URL is no more. */
export const markDead = (delivery: WebhookDelivery, failureReason: string): WebhookDelivery => ({
  ...clearSchedule(delivery),
  failureReason,
  state: 'dead',
});

/** The delivery that waits for its URL to come back; that is no attempt. */
export const postpone = (delivery: WebhookDelivery, nextAttemptAt: EpochMillis): WebhookDelivery => ({
  ...clearSchedule(delivery),
  failureReason: 'The server did not answer others.',
  nextAttemptAt,
  dueAt: nextAttemptAt,
});

/** A dead delivery as if it were new. */
export const resetForReplay = (delivery: WebhookDelivery, now: EpochMillis): WebhookDelivery => ({
  ...clearSchedule(delivery),
  state: 'pending',
  failedAttempts: 0,
  createdAt: now,
  dueAt: now + lostMessageGraceMs,
});

/** Seconds until the queue shows the next attempt; undefined when the sweep does. */
export function computeQueueDelaySeconds({ nextAttemptAt }: WebhookDelivery, now: EpochMillis): number | undefined {
  const wait = (nextAttemptAt ?? now) - now;
  return wait > maxQueueDelayMs ? undefined : Math.max(0, Math.ceil(wait / 1000));
}

/** Short waits are delays of the queue; the sweep sees to those a minute later, in case the message was lost. */
const scheduleNextAttempt = (
  nextAttemptAt: EpochMillis,
  now: EpochMillis,
): Pick<WebhookDelivery, 'nextAttemptAt' | 'dueAt'> => ({
  nextAttemptAt,
  dueAt: nextAttemptAt - now > maxQueueDelayMs ? nextAttemptAt : nextAttemptAt + lostMessageGraceMs,
});

function clearSchedule({
  nextAttemptAt: _next,
  dueAt: _due,
  failureReason: _failure,
  ...delivery
}: WebhookDelivery): WebhookDelivery {
  return delivery;
}
