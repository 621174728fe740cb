import { createHmac, randomBytes } from 'node:crypto';
import { hourMs, secondMs } from '../calendar.ts';
import { type HttpResponse, jsonResponse, type StoreHttpRequest } from '../http-messages.ts';
import { listQueuedMessages, messageTtlMs } from './clawback-events.ts';
import { queueErrorResponse, xmlResponse } from './queue-response.ts';
import type { ClawbackMessage } from './records.ts';
import type { ResponseContext } from './response-context.ts';
import { requireClientId } from './service-request.ts';

/** The host of the storage account whose queue has the publisher's clawback events. */
export const queueHost = 'storeclawback.queue.core.windows.net';

const tokenTtlMs = hourMs;
const defaultVisibilitySeconds = 30;
const maxVisibilitySeconds = 7 * 86_400;

/** `GET /v8.0/b2b/clawback/sastoken`: a URI with which the publisher's queue can be read for an hour. */
export function handleSasTokenRequest(context: ResponseContext, call: StoreHttpRequest): HttpResponse {
  const queue = requireClientId(context, call);
  const expiry = new Date(context.now() + tokenTtlMs).toISOString().replace(/\.\d+Z$/, 'Z');
  const rights = { sv: '2019-07-07', sp: 'rp', se: expiry, spr: 'https' };
  const query = new URLSearchParams({ ...rights, sig: signQueueUrl(context, queue, expiry) });
  return jsonResponse(200, { uri: `https://${queueHost}/${queue}?${query}` });
}

/** Answers the storage account: getting messages, which hides them for a while, and deleting them. */
export function handleQueueCall(context: ResponseContext, call: StoreHttpRequest): HttpResponse {
  const [, queue = '', messageId] = /^\/([^/]+)\/messages(?:\/([^/]+))?$/.exec(call.path) ?? [];
  if (!isAllowed(context, queue, call.query)) {
    return queueErrorResponse(403, 'AuthenticationFailed', 'Server failed to authenticate the request.');
  }
  if (call.method === 'GET' && messageId === undefined) return getMessages(context, call.query);
  if (call.method === 'DELETE' && messageId !== undefined) return deleteMessage(context, messageId, call.query);
  return queueErrorResponse(405, 'UnsupportedHttpVerb', 'The resource does not support the specified HTTP verb.');
}

function isAllowed(context: ResponseContext, queue: string, query: URLSearchParams): boolean {
  const expiry = query.get('se') ?? '';
  return Date.parse(expiry) > context.now() && query.get('sig') === signQueueUrl(context, queue, expiry);
}

const signQueueUrl = ({ keys }: ResponseContext, queue: string, expiry: string): string =>
  createHmac('sha256', keys.privateKey).update(`rp\n\n${expiry}\n/queue/${queue}`).digest('base64');

function getMessages({ state, now }: ResponseContext, query: URLSearchParams): HttpResponse {
  const count = readNumber(query, 'numofmessages', { usual: 1, from: 1, to: 32 });
  const seconds = readNumber(query, 'visibilitytimeout', {
    usual: defaultVisibilitySeconds,
    from: 1,
    to: maxVisibilitySeconds,
  });
  if (count === undefined || seconds === undefined) {
    return queueErrorResponse(
      400,
      'OutOfRangeQueryParameterValue',
      'A query parameter is out of the permissible range.',
    );
  }
  const visible = listQueuedMessages(state, now()).filter(({ visibleAt }) => visibleAt <= now());
  const isPeeked = query.get('peekonly') === 'true';
  const taken = visible.slice(0, count).map((message): ClawbackMessage => {
    if (isPeeked) return message;
    const hidden = {
      ...message,
      visibleAt: now() + seconds * secondMs,
      dequeueCount: message.dequeueCount + 1,
      popReceipt: randomBytes(18).toString('base64'),
    };
    state.clawbacks.set(message.lineItemId, hidden);
    return hidden;
  });
  const list = taken.map((message) => toMessageXml(message, isPeeked)).join('');
  return xmlResponse(200, list === '' ? '<QueueMessagesList />' : `<QueueMessagesList>${list}</QueueMessagesList>`);
}

function deleteMessage({ state, now }: ResponseContext, messageId: string, query: URLSearchParams): HttpResponse {
  const message = listQueuedMessages(state, now()).find((one) => one.messageId === messageId);
  if (message === undefined) return queueErrorResponse(404, 'MessageNotFound', 'The specified message does not exist.');
  if (message.popReceipt === undefined || query.get('popreceipt') !== message.popReceipt) {
    return queueErrorResponse(400, 'PopReceiptMismatch', 'The specified pop receipt did not match.');
  }
  state.clawbacks.set(message.lineItemId, { ...message, isDeleted: true });
  return { status: 204, headers: {}, body: '' };
}

function readNumber(
  query: URLSearchParams,
  name: string,
  { usual, from, to }: { usual: number; from: number; to: number },
): number | undefined {
  const text = query.get(name);
  const value = text === null ? usual : Number(text);
  return Number.isInteger(value) && value >= from && value <= to ? value : undefined;
}

function toMessageXml(message: ClawbackMessage, isPeeked: boolean): string {
  const members = {
    MessageId: message.messageId,
    InsertionTime: new Date(message.insertedAt).toUTCString(),
    ExpirationTime: new Date(message.insertedAt + messageTtlMs).toUTCString(),
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
