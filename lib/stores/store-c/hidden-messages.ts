import type { Millis } from '../../purchases/purchase.ts';
import type { QueueMessage } from './clawback-queue.ts';

/**
 * Messages that were read and left in a queue, by queue. For a while nobody can read them there; the publisher's other
 * applications, which share the queue and are asked right after, find them here.
 */
const hidden = new Map<string, readonly QueueMessage[]>();

const nameOf = ({ host, pathname }: URL): string => host + pathname;

/** Leaves messages to whoever asks for the same queue next. */
export const leave = (queue: URL, messages: readonly QueueMessage[]): void => {
  hidden.set(nameOf(queue), messages);
};

/** The messages that were left and that the queue does not show again yet. */
export const left = (queue: URL, now: Millis): readonly QueueMessage[] =>
  (hidden.get(nameOf(queue)) ?? []).filter(({ visibleAt }) => visibleAt > now);
