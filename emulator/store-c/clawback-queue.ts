import { createHmac, randomBytes } from 'node:crypto';
import { type Answer, json, type StoreCall } from '../http-messages.ts';
import { messageLifeMs, queuedAt } from './clawback-events.ts';
import { queueProblem, xml } from './queue-answer.ts';
import type { ClawbackMessage } from './records.ts';
import { callerOf } from './service-request.ts';
import type { Source } from './source.ts';

/** The host of the storage account whose queue has the publisher's clawback events. */
export const queueHost = 'storeclawback.queue.core.windows.net';

const tokenLifeMs = 3_600_000;
const usualVisibilitySeconds = 30;
const longestVisibilitySeconds = 7 * 86_400;

/** `GET /v8.0/b2b/clawback/sastoken`: a URI with which the publisher's queue can be read for an hour. */
export function clawbackToken(source: Source, call: StoreCall): Answer {
  const queue = callerOf(source, call);
  const expiry = new Date(source.now() + tokenLifeMs).toISOString().replace(/\.\d+Z$/, 'Z');
  const rights = { sv: '2019-07-07', sp: 'rp', se: expiry, spr: 'https' };
  const query = new URLSearchParams({ ...rights, sig: signatureOf(source, queue, expiry) });
  return json(200, { uri: `https://${queueHost}/${queue}?${query}` });
}

/** Answers the storage account: getting messages, which hides them for a while, and deleting them. */
export function answerQueue(source: Source, call: StoreCall): Answer {
  const [, queue = '', messageId] = /^\/([^/]+)\/messages(?:\/([^/]+))?$/.exec(call.path) ?? [];
  if (!isAllowed(source, queue, call.query)) {
    return queueProblem(403, 'AuthenticationFailed', 'Server failed to authenticate the request.');
  }
  if (call.method === 'GET' && messageId === undefined) return getMessages(source, call.query);
  if (call.method === 'DELETE' && messageId !== undefined) return deleteMessage(source, messageId, call.query);
  return queueProblem(405, 'UnsupportedHttpVerb', 'The resource does not support the specified HTTP verb.');
}

function isAllowed(source: Source, queue: string, query: URLSearchParams): boolean {
  const expiry = query.get('se') ?? '';
  return Date.parse(expiry) > source.now() && query.get('sig') === signatureOf(source, queue, expiry);
}

const signatureOf = ({ keys }: Source, queue: string, expiry: string): string =>
  createHmac('sha256', keys.privateKey).update(`rp\n\n${expiry}\n/queue/${queue}`).digest('base64');

function getMessages({ books, now }: Source, query: URLSearchParams): Answer {
  const count = numberOf(query, 'numofmessages', { usual: 1, from: 1, to: 32 });
  const seconds = numberOf(query, 'visibilitytimeout', {
    usual: usualVisibilitySeconds,
    from: 1,
    to: longestVisibilitySeconds,
  });
  if (count === undefined || seconds === undefined) {
    return queueProblem(400, 'OutOfRangeQueryParameterValue', 'A query parameter is out of the permissible range.');
  }
  const visible = queuedAt(books, now()).filter(({ visibleAt }) => visibleAt <= now());
  const isPeeked = query.get('peekonly') === 'true';
  const taken = visible.slice(0, count).map((message): ClawbackMessage => {
    if (isPeeked) return message;
    const hidden = {
      ...message,
      visibleAt: now() + seconds * 1000,
      dequeueCount: message.dequeueCount + 1,
      popReceipt: randomBytes(18).toString('base64'),
    };
    books.clawbacks.set(message.lineItemId, hidden);
    return hidden;
  });
  const list = taken.map((message) => writtenMessage(message, isPeeked)).join('');
  return xml(200, list === '' ? '<QueueMessagesList />' : `<QueueMessagesList>${list}</QueueMessagesList>`);
}

function deleteMessage({ books, now }: Source, messageId: string, query: URLSearchParams): Answer {
  const message = queuedAt(books, now()).find((one) => one.messageId === messageId);
  if (message === undefined) return queueProblem(404, 'MessageNotFound', 'The specified message does not exist.');
  if (message.popReceipt === undefined || query.get('popreceipt') !== message.popReceipt) {
    return queueProblem(400, 'PopReceiptMismatch', 'The specified pop receipt did not match.');
  }
  books.clawbacks.set(message.lineItemId, { ...message, isDeleted: true });
  return { status: 204, headers: {}, body: '' };
}

function numberOf(
  query: URLSearchParams,
  name: string,
  { usual, from, to }: { usual: number; from: number; to: number },
): number | undefined {
  const text = query.get(name);
  const value = text === null ? usual : Number(text);
  return Number.isInteger(value) && value >= from && value <= to ? value : undefined;
}

function writtenMessage(message: ClawbackMessage, isPeeked: boolean): string {
  const members = {
    MessageId: message.messageId,
    InsertionTime: new Date(message.insertedAt).toUTCString(),
    ExpirationTime: new Date(message.insertedAt + messageLifeMs).toUTCString(),
    ...(!isPeeked && {
      PopReceipt: message.popReceipt,
      TimeNextVisible: new Date(message.visibleAt).toUTCString(),
    }),
    DequeueCount: message.dequeueCount,
    MessageText: message.text,
  };
  const elements = Object.entries(members).map(([name, value]) => `<${name}>${value}</${name}>`);
  return `<QueueMessage>${elements.join('')}</QueueMessage>`;
}
