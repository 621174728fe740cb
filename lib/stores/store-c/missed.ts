import { parse } from '../../parse.ts';
import type { Millis } from '../../purchases/purchase.ts';
import type { Asking, StoreMessage } from '../store.ts';
import { Clawback, type ClawbackEvent, eventIn, messageOf } from './clawback-event.ts';
import { deleteMessage, nextMessages, queueAddress, queueSession } from './clawback-queue.ts';
import { clawedBack } from './clawed-back.ts';
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
  const messages = new Map<string, StoreMessage>();
  for (let batch = 0; batch < mostBatches; batch++) {
    const waiting = await nextMessages(session, queue);
    if (waiting.length === 0) break;
    for (const { text, ...place } of waiting) {
      const event = eventIn(text);
      if (!event || !isOfSandbox(event, session.settings)) continue;
      const about = await clawedBack(event, asking);
      if (about) messages.set(event.id, messageOf(event, { ...about, ...place }));
    }
  }
  return [...messages.values()];
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
