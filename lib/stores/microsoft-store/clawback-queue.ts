import * as v from 'valibot';
import type { ServiceError } from '../../foundation/errors.ts';
import { type EpochMillis, secondMs } from '../../foundation/time.ts';
import { createRejection } from '../settings.ts';
import type { StoreContext, StoreResponse } from '../store-context.ts';
import { invalidSettingsError, parseResponse, unavailableError } from './api-errors.ts';
import { evictAccessToken, getAccessToken } from './entra.ts';
import { createSession, type MicrosoftSession } from './session.ts';

/** A received message of the queue, which hides it until `visibleAt`. */
export interface QueueMessage {
  readonly messageId: string;
  /** Credential to delete the message, valid until it is received again. */
  readonly popReceipt: string;
  readonly text: string;
  readonly visibleAt: EpochMillis;
}

/** Runs on a schedule, so the budget is larger than for a validation. */
const queueBudgetMs = 60_000;

export const createQueueSession = (
  context: Pick<StoreContext, 'settings' | 'fetch' | 'now' | 'stopwatch'>,
): MicrosoftSession => createSession(context, { budgetMs: queueBudgetMs });

const SasResponse = v.object({ uri: v.pipe(v.string(), v.url(), v.startsWith('https://')) });

/**
 * Fetches the SAS URL of the app's clawback queue. Returns undefined for an app without a queue: Microsoft creates
 * queues on request only.
 * @see https://learn.microsoft.com/en-us/gaming/gdk/_content/gc/commerce/service-to-service/microsoft-store-apis/xstore-v8-clawbackv2-sastoken
 */
export async function fetchQueueUrl(session: MicrosoftSession): Promise<URL | undefined> {
  const token = await getAccessToken(session, 'services');
  const response = await session.fetch('https://purchase.mp.microsoft.com/v8.0/b2b/clawback/sastoken', {
    headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
  });
  const { status } = response;
  if (status === 200) return new URL(parseResponse(SasResponse, response.text).uri);
  if (status === 404) return undefined;
  if (status === 401 || status === 403) {
    evictAccessToken(session, 'services');
    throw invalidSettingsError(
      'the Entra application lacks access to the clawback queue',
      createRejection('permission', `HTTP ${status}`),
    );
  }
  throw unavailableError(`clawback queue URL: HTTP ${status}`);
}

/** Maximum of the Queue service. */
const batchSize = 32;

/** Longer than the time until `deleteEnqueued` deletes the messages. Remaining ones become visible again. */
const visibilityTimeoutSeconds = 600;

/**
 * Receives the next visible messages; an empty list if the queue is empty.
 * @see https://learn.microsoft.com/en-us/rest/api/storageservices/get-messages
 */
export async function receiveMessages(session: MicrosoftSession, queueUrl: URL): Promise<QueueMessage[]> {
  const url = toQueueUrl(queueUrl, '/messages', {
    numofmessages: String(batchSize),
    visibilitytimeout: String(visibilityTimeoutSeconds),
  });
  const response = await session.fetch(url, { headers: { accept: 'application/xml' } });
  if (response.status !== 200) throw toQueueError(response);
  return parseMessages(response.text, session.now() + visibilityTimeoutSeconds * secondMs);
}

/**
 * Deletes a message. Does nothing if it is deleted already or was received again since.
 * @see https://learn.microsoft.com/en-us/rest/api/storageservices/delete-message2
 */
export async function deleteMessage(
  session: MicrosoftSession,
  queueUrl: URL,
  { messageId, popReceipt }: Pick<QueueMessage, 'messageId' | 'popReceipt'>,
): Promise<void> {
  const url = toQueueUrl(queueUrl, `/messages/${encodeURIComponent(messageId)}`, { popreceipt: popReceipt });
  const response = await session.fetch(url, { method: 'DELETE' });
  if (![204, 400, 404].includes(response.status)) throw toQueueError(response);
}

function toQueueUrl(queueUrl: URL, path: string, parameters: Readonly<Record<string, string>>): string {
  const url = new URL(queueUrl);
  url.pathname = url.pathname.replace(/\/$/, '') + path;
  // Appended as text: encoding the query again would invalidate its signature.
  url.search = `${url.search}&${new URLSearchParams(parameters)}`;
  return url.href;
}

const toQueueError = ({ status }: StoreResponse): ServiceError => unavailableError(`clawback queue: HTTP ${status}`);

function parseMessages(xml: string, visibleAt: EpochMillis): QueueMessage[] {
  if (!/<QueueMessagesList\b/.test(xml)) throw unavailableError('clawback queue: unexpected response body');
  const messages = xml
    .split('<QueueMessage>')
    .slice(1)
    .map((part) => part.split('</QueueMessage>', 1)[0] ?? '');
  return messages.flatMap((message) => {
    const messageId = readXmlElement(message, 'MessageId');
    const popReceipt = readXmlElement(message, 'PopReceipt');
    const text = readXmlElement(message, 'MessageText');
    return messageId && popReceipt ? [{ messageId, popReceipt, text, visibleAt }] : [];
  });
}

/** Reads the text of an element without decoding: ids, receipts and base64 contain no escaped characters. */
const readXmlElement = (message: string, name: string): string =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(message)?.[1]?.trim() ?? '';
