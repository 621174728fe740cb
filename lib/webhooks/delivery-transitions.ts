import type { PostOutcome } from '../foundation/outgoing/post-webhook.ts';
import { type EpochMillis, minuteMs, secondMs } from '../foundation/time.ts';
import type { WebhookDelivery } from './delivery.ts';
import { computeRetryDelayMs, maxQueueDelayMs, parseRetryAfterMs } from './retry-schedule.ts';

/** Time after which the queue message of an attempt counts as lost. */
const lostMessageGraceMs = minuteMs;

interface AttemptContext {
  readonly now: EpochMillis;
  /** Random number from 0 to 1 for the jitter. */
  readonly random: number;
  /** Start of the attempt. Undefined if it failed before a request was sent. */
  readonly startedAt?: EpochMillis;
}

const isSuccess = (outcome: PostOutcome): boolean =>
  'status' in outcome && outcome.status >= 200 && outcome.status < 300;
export const isGoneResponse = (outcome: PostOutcome): boolean => 'status' in outcome && outcome.status === 410;

/** Returns a sentence about the failure, or undefined for a success. */
export function describeFailure(outcome: PostOutcome): string | undefined {
  if (isSuccess(outcome)) return undefined;
  return 'status' in outcome ? `The server responded with ${outcome.status}.` : outcome.message;
}

const testAdvice = 'A test webhook is sent once: correct the server, then send another one.';

/** Returns the delivery after an attempt: `delivered`, scheduled for a retry, or `dead`. */
export function applyAttempt(
  delivery: WebhookDelivery,
  outcome: PostOutcome,
  { now, random, startedAt }: AttemptContext,
): WebhookDelivery {
  const failureReason = describeFailure(outcome);
  const unscheduled = {
    ...clearSchedule(delivery),
    ...(startedAt !== undefined && { lastAttemptAt: startedAt }),
    ...('status' in outcome && { lastHttpStatus: outcome.status }),
  };
  if (failureReason === undefined) return { ...unscheduled, state: 'delivered' };
  const failedAttempts = delivery.failedAttempts + 1;
  const retryAfterMs = 'status' in outcome ? parseRetryAfterMs(outcome.retryAfter, now) : undefined;
  const retryDelayMs = computeRetryDelayMs({
    failedAttempts,
    random,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
  // A test webhook is not retried: the operator sends it and reads the result immediately.
  if (delivery.type === 'test')
    return { ...unscheduled, failedAttempts, failureReason: `${failureReason} ${testAdvice}`, state: 'dead' };
  if (retryDelayMs === undefined || isGoneResponse(outcome))
    return { ...unscheduled, failedAttempts, failureReason, state: 'dead' };
  return { ...unscheduled, failedAttempts, failureReason, ...scheduleNextAttempt(now + retryDelayMs, now) };
}

/** Returns the delivery without further attempts. */
export const markDead = (delivery: WebhookDelivery, failureReason: string): WebhookDelivery => ({
  ...clearSchedule(delivery),
  failureReason,
  state: 'dead',
});

/** Delays the first attempt until the URL's backoff ends. Does not count as an attempt. */
export const postpone = (delivery: WebhookDelivery, nextAttemptAt: EpochMillis): WebhookDelivery => ({
  ...clearSchedule(delivery),
  failureReason: 'The server did not respond to other webhooks.',
  nextAttemptAt,
  dueAt: nextAttemptAt,
});

/** Delays the delivery until the previous delivery has ended, at most until `dueAt`. Does not count as an attempt. */
export const waitInOrder = (delivery: WebhookDelivery, dueAt: EpochMillis): WebhookDelivery => ({
  ...clearSchedule(delivery),
  failureReason: 'An earlier message of the purchase is not delivered yet.',
  dueAt,
});

/** Returns the delivery with its original number of attempts. */
export const resetForReplay = (delivery: WebhookDelivery, now: EpochMillis): WebhookDelivery => ({
  ...clearSchedule(delivery),
  state: 'pending',
  failedAttempts: 0,
  createdAt: now,
  dueAt: now + lostMessageGraceMs,
});

/** Returns the delay of the queue message for the next attempt, or undefined if the due item triggers the attempt. */
export function computeQueueDelaySeconds({ nextAttemptAt }: WebhookDelivery, now: EpochMillis): number | undefined {
  const delayMs = (nextAttemptAt ?? now) - now;
  return delayMs > maxQueueDelayMs ? undefined : Math.max(0, Math.ceil(delayMs / secondMs));
}

/**
 * A short delay is a queue message with a timer; the due item repeats the attempt a minute later if the message is
 * lost.
 */
const scheduleNextAttempt = (
  nextAttemptAt: EpochMillis,
  now: EpochMillis,
): Pick<WebhookDelivery, 'nextAttemptAt' | 'dueAt'> => ({
  nextAttemptAt,
  dueAt: nextAttemptAt - now > maxQueueDelayMs ? nextAttemptAt : nextAttemptAt + lostMessageGraceMs,
});

function clearSchedule({
  nextAttemptAt: _nextAttemptAt,
  dueAt: _dueAt,
  failureReason: _failureReason,
  ...delivery
}: WebhookDelivery): WebhookDelivery {
  return delivery;
}
