import * as v from 'valibot';
import type { Millis } from '../../purchases/purchase.ts';
import { withinBudget } from '../deadline.ts';
import type { Asking, StoreAnswer } from '../store.ts';
import { accessToken, forgetToken } from './entra.ts';
import { misconfigured, unavailable, understood } from './microsoft-answer.ts';
import type { Session } from './session.ts';
import { storeCSettings } from './settings.ts';

/** A message of the queue, invisible to others for a while. */
export interface QueueMessage {
  readonly messageId: string;
  readonly popReceipt: string;
  readonly text: string;
  /** When the queue shows it again, unless it is deleted before. */
  readonly visibleAt: Millis;
}

/** Nobody waits for this conversation; it may take as long as many messages need. */
export const queueSession = ({ settings, fetch, now }: Asking): Session => ({
  settings: storeCSettings(settings),
  fetch: withinBudget(fetch, { totalMs: 60_000, longestCallMs: 5_000, store: 'Microsoft' }),
  now,
});

const Access = v.object({ uri: v.pipe(v.string(), v.url(), v.startsWith('https://')) });

/** The address of the application's queue with the right to use it; undefined for one that has none. */
export async function queueAddress(session: Session): Promise<URL | undefined> {
  const token = await accessToken(session, 'services');
  const answer = await session.fetch('https://purchase.mp.microsoft.com/v8.0/b2b/clawback/sastoken', {
    headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
  });
  if (answer.status === 200) return new URL(understood(Access, answer.text).uri);
  // Microsoft sets the queue up on request only.
  if (answer.status === 404) return undefined;
  if (answer.status === 401 || answer.status === 403) {
    forgetToken(session, 'services');
    throw misconfigured('its Entra application may not read the clawback queue.', `HTTP ${answer.status}`);
  }
  throw unavailable(`HTTP ${answer.status} for the clawback queue`);
}

/** As many as the queue gives at a time. */
const batchSize = 32;
/** Longer than it takes until `taken`: what is not deleted by then shows up again. */
const invisibleSeconds = 600;

/** The next messages that are visible; none when the queue is empty. */
export async function nextMessages(session: Session, queue: URL): Promise<QueueMessage[]> {
  const url = within(queue, '/messages', {
    numofmessages: String(batchSize),
    visibilitytimeout: String(invisibleSeconds),
  });
  const answer = await session.fetch(url, { headers: { accept: 'application/xml' } });
  if (answer.status !== 200) throw refused(answer);
  return messagesIn(answer.text, session.now() + invisibleSeconds * 1000);
}

/** Deletes a message for good. One that is gone, or that somebody else took since, is left as it is. */
export async function deleteMessage(
  session: Session,
  queue: URL,
  { messageId, popReceipt }: Pick<QueueMessage, 'messageId' | 'popReceipt'>,
): Promise<void> {
  const url = within(queue, `/messages/${encodeURIComponent(messageId)}`, { popreceipt: popReceipt });
  const answer = await session.fetch(url, { method: 'DELETE' });
  if (answer.status !== 204 && answer.status !== 404 && answer.status !== 400) throw refused(answer);
}

function within(queue: URL, path: string, parameters: Readonly<Record<string, string>>): string {
  const url = new URL(queue);
  url.pathname = url.pathname.replace(/\/$/, '') + path;
  // Added to the text, as the signature in the query must stay as it is written.
  url.search = `${url.search}&${new URLSearchParams(parameters)}`;
  return url.href;
}

const refused = ({ status }: StoreAnswer) => unavailable(`the clawback queue answers HTTP ${status}`);

function messagesIn(xml: string, visibleAt: Millis): QueueMessage[] {
  if (!/<QueueMessagesList\b/.test(xml)) throw unavailable('the clawback queue answers something else than messages');
  return [...xml.matchAll(/<QueueMessage>([\s\S]*?)<\/QueueMessage>/g)].flatMap(([, message = '']) => {
    const [messageId, popReceipt] = [member(message, 'MessageId'), member(message, 'PopReceipt')];
    return messageId && popReceipt ? [{ messageId, popReceipt, text: member(message, 'MessageText'), visibleAt }] : [];
  });
}

/** Ids, receipts and base64 hold nothing that XML writes in another way. */
const member = (message: string, name: string): string =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(message)?.[1]?.trim() ?? '';
