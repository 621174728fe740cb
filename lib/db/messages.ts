import type { Platform } from '../purchases/platform.ts';
import type { Millis } from '../purchases/purchase.ts';
import * as keys from './keys.ts';
import type { Table, Write } from './table.ts';

/** A message of a store, known by the store's own idempotency key. */
interface HandledMessage {
  readonly platform: Platform;
  readonly key: string;
}

/** Which messages of the stores have been handled. */
export interface Messages {
  isHandled(app: string, message: HandledMessage): Promise<boolean>;
  /** For a message that changed no purchase, or several. Twice is once. */
  markHandled(app: string, message: HandledMessage, now: Millis): Promise<void>;
}

/** Longer than any store repeats a message. */
const remembersMs = 30 * 24 * 60 * 60 * 1000;
const ttl = (now: Millis): number => Math.floor((now + remembersMs) / 1000);

export function messagesOf(table: Table): Messages {
  return {
    isHandled: async (app, { platform, key }) => (await table.get(keys.messageKey(app, platform, key))) !== undefined,
    markHandled: async (app, { platform, key }, now) =>
      await table.batchPut([{ ...keys.messageKey(app, platform, key), ttl: ttl(now) }]),
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
