import * as v from 'valibot';
import type { EpochMillis } from '../../shared/time.ts';
import type { StoreContext, StoreResponse } from '../store-context.ts';
import { withTimeBudget } from '../time-budget.ts';
import { invalidSettingsError, parseResponse, unavailableError } from './api-errors.ts';
import { evictAccessToken, getAccessToken } from './entra.ts';
import type { MicrosoftSession } from './session.ts';
import { parseStoredSettings } from './settings.ts';

/** A message of the queue, invisible to others for a while. */
export interface QueueMessage {
  readonly messageId: string;
  readonly popReceipt: string;
  readonly text: string;
  /** When the queue shows it again, unless it is deleted before. */
  readonly visibleAt: EpochMillis;
}

/** Nobody waits for this conversation; it may take as long as many messages need. */
export const createQueueSession = ({ settings, fetch, now }: StoreContext): MicrosoftSession => ({
  settings: parseStoredSettings(settings),
  fetch: withTimeBudget(fetch, { totalMs: 60_000, maxCallMs: 5_000, storeName: 'Microsoft Store' }),
  now,
});

const Access = v.object({ uri: v.pipe(v.string(), v.url(), v.startsWith('https://')) });

/** The address of the application's queue with the right to use it; undefined for one that has none. */
export async function fetchQueueUrl(session: MicrosoftSession): Promise<URL | undefined> {
  const token = await getAccessToken(session, 'services');
  const response = await session.fetch('https://purchase.mp.microsoft.com/v8.0/b2b/clawback/sastoken', {
    headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
  });
  if (response.status === 200) return new URL(parseResponse(Access, response.text).uri);
  // Microsoft sets the queue up on request only.
  if (response.status === 404) return undefined;
  if (response.status === 401 || response.status === 403) {
    evictAccessToken(session, 'services');
    throw invalidSettingsError('its Entra application may not read the clawback queue.', `HTTP ${response.status}`);
  }
  throw unavailableError(`HTTP ${response.status} for the clawback queue`);
}

/** As many as the queue gives at a time. */
const batchSize = 32;
/** Longer than it takes until `taken`: what is not deleted by then shows up again. */
const visibilityTimeoutSeconds = 600;

/** The next messages that are visible; none when the queue is empty. */
export async function receiveMessages(session: MicrosoftSession, queue: URL): Promise<QueueMessage[]> {
  const url = toQueueUrl(queue, '/messages', {
    numofmessages: String(batchSize),
    visibilitytimeout: String(visibilityTimeoutSeconds),
  });
  const response = await session.fetch(url, { headers: { accept: 'application/xml' } });
  if (response.status !== 200) throw toQueueError(response);
  return parseMessages(response.text, session.now() + visibilityTimeoutSeconds * 1000);
}

/** Deletes a message for good. One that is gone, or that somebody else took since, is left as it is. */
export async function deleteMessage(
  session: MicrosoftSession,
  queue: URL,
  { messageId, popReceipt }: Pick<QueueMessage, 'messageId' | 'popReceipt'>,
): Promise<void> {
  const url = toQueueUrl(queue, `/messages/${encodeURIComponent(messageId)}`, { popreceipt: popReceipt });
  const response = await session.fetch(url, { method: 'DELETE' });
  if (response.status !== 204 && response.status !== 404 && response.status !== 400) throw toQueueError(response);
}

function toQueueUrl(queue: URL, path: string, parameters: Readonly<Record<string, string>>): string {
  const url = new URL(queue);
  url.pathname = url.pathname.replace(/\/$/, '') + path;
  // Added to the text, as the signature in the query must stay as it is written.
  url.search = `${url.search}&${new URLSearchParams(parameters)}`;
  return url.href;
}

const toQueueError = ({ status }: StoreResponse) => unavailableError(`the clawback queue answers HTTP ${status}`);

function parseMessages(xml: string, visibleAt: EpochMillis): QueueMessage[] {
  if (!/<QueueMessagesList\b/.test(xml))
    throw unavailableError('the clawback queue answers something else than messages');
  return [...xml.matchAll(/<QueueMessage>([\s\S]*?)<\/QueueMessage>/g)].flatMap(([, message = '']) => {
    const [messageId, popReceipt] = [readXmlElement(message, 'MessageId'), readXmlElement(message, 'PopReceipt')];
    return messageId && popReceipt
      ? [{ messageId, popReceipt, text: readXmlElement(message, 'MessageText'), visibleAt }]
      : [];
  });
}

/** Ids, receipts and base64 hold nothing that XML writes in another way. */
const readXmlElement = (message: string, name: string): string =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(message)?.[1]?.trim() ?? '';
