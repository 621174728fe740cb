import { parse } from '../../shared/parse.ts';
import type { EpochMillis } from '../../shared/time.ts';
import type { StoreNotification } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { Clawback, type ClawbackEvent, parseClawbackEvent, toNotification } from './clawback-event.ts';
import {
  createQueueSession,
  deleteMessage,
  fetchQueueUrl,
  type QueueMessage,
  receiveMessages,
} from './clawback-queue.ts';
import { findClawbackSubject } from './find-clawback-purchase.ts';
import type { MicrosoftSession } from './session.ts';
import type { StoreCSettings } from './settings.ts';
import { listSharedMessages, shareMessages } from './shared-messages.ts';

/** Of the queue at most these are read at once; what is left waits for the next time. */
const maxBatches = 20;

/**
 * What the clawback queue holds of the application's purchases. All applications of a publisher may share one queue, so
 * that what is not ours, or not yet, stays in it.
 */
export async function listUndelivered(
  _since: EpochMillis,
  context: StoreContext,
): Promise<readonly StoreNotification[]> {
  const session = createQueueSession(context);
  const queue = await fetchQueueUrl(session);
  if (!queue) return [];
  const messages = [...listSharedMessages(queue, session.now()), ...(await receiveAllMessages(session, queue))];
  const own = new Map<string, StoreNotification>();
  const others: QueueMessage[] = [];
  for (const message of messages) {
    const found = await toOwnNotification(message, session.settings, context);
    if (found) own.set(found.key, found);
    else others.push(message);
  }
  shareMessages(queue, others);
  return [...own.values()];
}

async function receiveAllMessages(session: MicrosoftSession, queue: URL): Promise<QueueMessage[]> {
  const all: QueueMessage[] = [];
  for (let batch = 0; batch < maxBatches; batch++) {
    const next = await receiveMessages(session, queue);
    if (next.length === 0) break;
    all.push(...next);
  }
  return all;
}

async function toOwnNotification(
  { text, messageId, popReceipt }: QueueMessage,
  settings: StoreCSettings,
  context: StoreContext,
): Promise<StoreNotification | undefined> {
  const event = parseClawbackEvent(text);
  if (!event || !isInSandbox(event, settings)) return undefined;
  const about = await findClawbackSubject(event, context);
  return about && toNotification(event, { ...about, messageId, popReceipt });
}

/** Retail is everybody's; of the sandboxes only the application's own. */
const isInSandbox = ({ data: { sandboxId } }: ClawbackEvent, settings: StoreCSettings): boolean =>
  ['RETAIL', settings.sandboxId?.toUpperCase()].includes(sandboxId?.toUpperCase() || 'RETAIL');

/** Deletes from the queue what is on its way. */
export async function confirmEnqueued(messages: readonly StoreNotification[], context: StoreContext): Promise<void> {
  const session = createQueueSession(context);
  const queue = await fetchQueueUrl(session);
  if (!queue) return;
  for (const { payload } of messages) await deleteMessage(session, queue, parse(Clawback, payload, 'InternalError'));
}
