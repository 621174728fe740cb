import { parse } from '../../parse.ts';
import type { Millis } from '../../purchases/purchase.ts';
import type { Asking, StoreMessage } from '../store.ts';
import { Clawback, type ClawbackEvent, eventIn, messageOf } from './clawback-event.ts';
import { deleteMessage, nextMessages, type QueueMessage, queueAddress, queueSession } from './clawback-queue.ts';
import { clawedBack } from './clawed-back.ts';
import { leave, left } from './hidden-messages.ts';
import type { Session } from './session.ts';
import type { StoreCSettings } from './settings.ts';

/** Of the queue at most these are read at once; what is left waits for the next time. */
const mostBatches = 20;

/**
 * What the clawback queue holds of the application's purchases. All applications of a publisher may share one queue, so
 * that what is not ours, or not yet, stays in it.
 */
export async function missedClawbacks(_since: Millis, asking: Asking): Promise<readonly StoreMessage[]> {
  const session = queueSession(asking);
  const queue = await queueAddress(session);
  if (!queue) return [];
  const waiting = [...left(queue, session.now()), ...(await readAll(session, queue))];
  const ours = new Map<string, StoreMessage>();
  const others: QueueMessage[] = [];
  for (const message of waiting) {
    const found = await ourMessage(message, session.settings, asking);
    if (found) ours.set(found.key, found);
    else others.push(message);
  }
  leave(queue, others);
  return [...ours.values()];
}

async function readAll(session: Session, queue: URL): Promise<QueueMessage[]> {
  const all: QueueMessage[] = [];
  for (let batch = 0; batch < mostBatches; batch++) {
    const next = await nextMessages(session, queue);
    if (next.length === 0) break;
    all.push(...next);
  }
  return all;
}

async function ourMessage(
  { text, messageId, popReceipt }: QueueMessage,
  settings: StoreCSettings,
  asking: Asking,
): Promise<StoreMessage | undefined> {
  const event = eventIn(text);
  if (!event || !isOfSandbox(event, settings)) return undefined;
  const about = await clawedBack(event, asking);
  return about && messageOf(event, { ...about, messageId, popReceipt });
}

/** Retail is everybody's; of the sandboxes only the application's own. */
const isOfSandbox = ({ data: { sandboxId } }: ClawbackEvent, settings: StoreCSettings): boolean =>
  ['RETAIL', settings.sandboxId?.toUpperCase()].includes(sandboxId?.toUpperCase() || 'RETAIL');

/** Deletes from the queue what is on its way. */
export async function takenClawbacks(messages: readonly StoreMessage[], asking: Asking): Promise<void> {
  const session = queueSession(asking);
  const queue = await queueAddress(session);
  if (!queue) return;
  for (const { content } of messages) await deleteMessage(session, queue, parse(Clawback, content, 'InternalError'));
}
