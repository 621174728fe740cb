import { parse } from '../../foundation/parse.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { StoreNotification } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { Clawback, parseClawbackEvent, toNotification } from './clawback-event.ts';
import {
  createQueueSession,
  deleteMessage,
  fetchQueueUrl,
  type QueueMessage,
  receiveMessages,
} from './clawback-queue.ts';
import { findClawbackSubject } from './find-clawback-subject.ts';
import type { ClawbackEvent } from './payloads.ts';
import type { MicrosoftSession } from './session.ts';
import type { MicrosoftStoreSettings } from './settings.ts';
import { listSharedMessages, shareMessages } from './shared-messages.ts';

/** Batches of 32 messages in one poll. The next poll receives the rest. */
const maxBatches = 20;

/**
 * Polls the clawback queue for events about the app's purchases. The apps of a publisher can share a queue, so events
 * for other apps, and for purchases that are not stored yet, stay in it.
 * @see https://learn.microsoft.com/en-us/gaming/gdk/docs/store/commerce/service-to-service/xstore-managing-refunds-and-chargebacks
 */
export async function listUndelivered(
  _since: EpochMillis,
  context: StoreContext,
): Promise<readonly StoreNotification[]> {
  const session = createQueueSession(context);
  const queueUrl = await fetchQueueUrl(session);
  if (!queueUrl) return [];
  const sharedMessages = listSharedMessages(queueUrl, session.now());
  const receivedMessages = await receiveAllMessages(session, queueUrl);
  const own = new Map<string, StoreNotification>();
  const remainingMessages: QueueMessage[] = [];
  for (const message of [...sharedMessages, ...receivedMessages]) {
    const notification = await toOwnNotification(message, session.settings, context);
    if (notification) own.set(notification.key, notification);
    else remainingMessages.push(message);
  }
  shareMessages(queueUrl, remainingMessages, session.now());
  return [...own.values()];
}

async function receiveAllMessages(session: MicrosoftSession, queueUrl: URL): Promise<QueueMessage[]> {
  const messages: QueueMessage[] = [];
  for (let batchCount = 0; batchCount < maxBatches; batchCount++) {
    const batch = await receiveMessages(session, queueUrl);
    if (batch.length === 0) break;
    messages.push(...batch);
  }
  return messages;
}

async function toOwnNotification(
  { text, messageId, popReceipt }: QueueMessage,
  settings: MicrosoftStoreSettings,
  context: StoreContext,
): Promise<StoreNotification | undefined> {
  const event = parseClawbackEvent(text);
  if (!event || !isInSandbox(event, settings)) return undefined;
  const subject = await findClawbackSubject(event, context);
  return subject && toNotification(event, { ...subject, messageId, popReceipt });
}

/** The event is from retail or from the sandbox of the app's settings. */
const isInSandbox = ({ data: { sandboxId } }: ClawbackEvent, settings: MicrosoftStoreSettings): boolean =>
  ['RETAIL', settings.sandboxId?.toUpperCase()].includes(sandboxId?.toUpperCase() || 'RETAIL');

/** Deletes the messages of enqueued notifications from the clawback queue. */
export async function deleteEnqueued(
  notifications: readonly StoreNotification[],
  context: StoreContext,
): Promise<void> {
  const session = createQueueSession(context);
  const queueUrl = await fetchQueueUrl(session);
  if (!queueUrl) return;
  for (const { payload } of notifications)
    await deleteMessage(session, queueUrl, parse(Clawback, payload, 'InternalError'));
}
