import * as v from 'valibot';
import { parse } from '../parse.ts';
import type { Platform } from '../purchases/platform.ts';
import type { Millis } from '../purchases/purchase.ts';
import * as keys from './keys.ts';
import type { Table, Write } from './table.ts';

/** A message of a store, known by the store's own idempotency key. */
interface HandledMessage {
  readonly platform: Platform;
  readonly key: string;
}

/** When looks at the store put a message on the queue, in epoch milliseconds. */
const Queued = v.object({ firstAt: v.number(), lastAt: v.number() });
type Queued = v.InferOutput<typeof Queued>;

/** Which messages of the stores have been handled, and which are on their way to that. */
export interface Messages {
  isHandled(app: string, message: HandledMessage): Promise<boolean>;
  /** For a message that changed no purchase, or several. Twice is once. */
  markHandled(app: string, message: HandledMessage, now: Millis): Promise<void>;
  /** Undefined for a message that no look has put on the queue in the last days. */
  queued(app: string, message: HandledMessage): Promise<Queued | undefined>;
  markQueued(app: string, messages: readonly (HandledMessage & Queued)[]): Promise<void>;
}

/** Longer than any store repeats a message. */
const remembersMs = 30 * 24 * 60 * 60 * 1000;
const ttl = (now: Millis): number => Math.floor((now + remembersMs) / 1000);
/** Longer than a look goes back. */
const remembersQueuedMs = 4 * 24 * 60 * 60 * 1000;

export function messagesOf(table: Table): Messages {
  return {
    isHandled: async (app, { platform, key }) => (await table.get(keys.messageKey(app, platform, key))) !== undefined,
    markHandled: async (app, { platform, key }, now) =>
      await table.batchPut([{ ...keys.messageKey(app, platform, key), ttl: ttl(now) }]),
    async queued(app, { platform, key }) {
      const item = await table.get(keys.messageQueuedKey(app, platform, key));
      return item && parse(Queued, item, 'DatabaseError');
    },
    markQueued: async (app, messages) =>
      await table.batchPut(
        messages.map(({ platform, key, firstAt, lastAt }) => ({
          ...keys.messageQueuedKey(app, platform, key),
          ...{ firstAt, lastAt, ttl: Math.floor((lastAt + remembersQueuedMs) / 1000) },
        })),
      ),
  };
}

/** A message while a purchase that it tells of is recorded. */
export interface MessagePart extends HandledMessage {
  /** Whether the message tells of other purchases as well. */
  readonly isPart: boolean;
}

export const partKey = (app: string, { platform, key, isPart }: MessagePart, purchaseId: string): keys.Key =>
  isPart ? keys.messagePartKey(app, { platform, key }, purchaseId) : keys.messageKey(app, platform, key);

/** Marks the message in the transaction that takes it in; that fails when another worker took it in first. */
export const handledWrite = (table: string, key: keys.Key, now: Millis): Write => ({
  Put: { TableName: table, Item: { ...key, ttl: ttl(now) }, ConditionExpression: 'attribute_not_exists(pk)' },
});
