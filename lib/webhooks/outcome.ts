import type { Millis } from '../purchases/purchase.ts';
import type { Delivery } from './delivery.ts';
import type { Posted } from './post.ts';
import { longestQueueDelayMs, retryAfterMs, waitAfter } from './schedule.ts';

/** A delay of the queue that is longer overdue than this has been lost. */
const slackMs = 60_000;

interface When {
  readonly now: Millis;
  /** From 0 to 1. */
  readonly random: number;
}

const isSuccess = (posted: Posted): boolean => 'status' in posted && posted.status >= 200 && posted.status < 300;
export const isGone = (posted: Posted): boolean => 'status' in posted && posted.status === 410;

/** What went wrong, in a sentence; undefined for a success. */
export function failureOf(posted: Posted): string | undefined {
  if (isSuccess(posted)) return undefined;
  return 'status' in posted ? `The server answered ${posted.status}.` : posted.message;
}

/** The delivery after an attempt: delivered, waiting for the next one, or dead. */
export function afterAttempt(delivery: Delivery, posted: Posted, { now, random }: When): Delivery {
  const failure = failureOf(posted);
  const tried = { ...finished(delivery), ...('status' in posted && { lastStatus: posted.status }) };
  if (failure === undefined) return { ...tried, state: 'delivered' };
  const attempts = delivery.attempts + 1;
  const asked = 'status' in posted ? retryAfterMs(posted.retryAfter, now) : undefined;
  const wait = waitAfter({ attempts, random, ...(asked !== undefined && { retryAfterMs: asked }) });
  // A test is for somebody who watches.
  if (wait === undefined || isGone(posted) || delivery.type === 'test')
    return { ...tried, attempts, failure, state: 'dead' };
  return { ...tried, attempts, failure, ...waitingUntil(now + wait, now) };
}

/** The delivery that gets no attempt: its application or URL is no more. */
export const ended = (delivery: Delivery, failure: string): Delivery => ({
  ...finished(delivery),
  failure,
  state: 'dead',
});

/** The delivery that waits for its URL to come back; that is no attempt. */
export const heldUntil = (delivery: Delivery, nextAt: Millis): Delivery => ({
  ...finished(delivery),
  failure: 'The server did not answer others.',
  nextAt,
  dueAt: nextAt,
});

/** A dead delivery as if it were new. */
export const replayed = (delivery: Delivery, now: Millis): Delivery => ({
  ...finished(delivery),
  state: 'waiting',
  attempts: 0,
  createdAt: now,
  dueAt: now + slackMs,
});

/** Seconds until the queue shows the next attempt; undefined when the sweep does. */
export function queueDelaySeconds({ nextAt }: Delivery, now: Millis): number | undefined {
  const wait = (nextAt ?? now) - now;
  return wait > longestQueueDelayMs ? undefined : Math.max(0, Math.ceil(wait / 1000));
}

/** Short waits are delays of the queue; the sweep sees to those a minute later, in case the message was lost. */
const waitingUntil = (nextAt: Millis, now: Millis): Pick<Delivery, 'nextAt' | 'dueAt'> => ({
  nextAt,
  dueAt: nextAt - now > longestQueueDelayMs ? nextAt : nextAt + slackMs,
});

function finished({ nextAt: _next, dueAt: _due, failure: _failure, ...delivery }: Delivery): Delivery {
  return delivery;
}
