import { createCache } from '../../foundation/cache.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { QueueMessage } from './clawback-queue.ts';

const maxQueues = 300;

/**
 * Received messages that remain in a queue, by queue. The queue hides them for a while, so the publisher's other apps,
 * which poll the same queue next, read them here.
 */
const messagesByQueue = createCache<readonly QueueMessage[]>(maxQueues);

const toQueueName = ({ host, pathname }: URL): string => host + pathname;

/** Provides messages to the next app that polls the queue. */
export function shareMessages(queueUrl: URL, messages: readonly QueueMessage[], now: EpochMillis): void {
  const usableUntil = Math.max(now, ...messages.map(({ visibleAt }) => visibleAt));
  messagesByQueue.set(toQueueName(queueUrl), messages, { now, usableUntil });
}

/** Lists the shared messages that the queue still hides. */
export const listSharedMessages = (queueUrl: URL, now: EpochMillis): readonly QueueMessage[] =>
  (messagesByQueue.get(toQueueName(queueUrl), now) ?? []).filter(({ visibleAt }) => visibleAt > now);
