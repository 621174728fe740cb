import type { EpochMillis } from '../../shared/time.ts';
import type { QueueMessage } from './clawback-queue.ts';

/**
 * Messages that were read and left in a queue, by queue. For a while nobody can read them there; the publisher's other
 * applications, which share the queue and are asked right after, find them here.
 */
const sharedMessages = new Map<string, readonly QueueMessage[]>();

const toQueueName = ({ host, pathname }: URL): string => host + pathname;

/** Leaves messages to whoever asks for the same queue next. */
export const shareMessages = (queue: URL, messages: readonly QueueMessage[]): void => {
  sharedMessages.set(toQueueName(queue), messages);
};

/** The messages that were left and that the queue does not show again yet. */
export const listSharedMessages = (queue: URL, now: EpochMillis): readonly QueueMessage[] =>
  (sharedMessages.get(toQueueName(queue)) ?? []).filter(({ visibleAt }) => visibleAt > now);
