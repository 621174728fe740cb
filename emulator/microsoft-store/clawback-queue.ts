import { createHmac, randomBytes } from 'node:crypto';
import { dayMs, hourMs, secondMs } from '../calendar.ts';
import { type HttpResponse, jsonResponse, noContentResponse, type StoreHttpRequest } from '../http-messages.ts';
import { listQueuedMessages, messageTtlMs } from './clawback-events.ts';
import { queueErrorResponse, xmlResponse } from './queue-response.ts';
import type { ClawbackMessage } from './records.ts';
import type { ResponseContext } from './response-context.ts';
import { requireClientId } from './service-request.ts';

/** Host of the storage account with the publisher's queue of clawback events. */
export const queueHost = 'storeclawback.queue.core.windows.net';

const tokenTtlMs = hourMs;
const defaultVisibilitySeconds = 30;
const maxVisibilitySeconds = (7 * dayMs) / secondMs;

/**
 * `GET /v8.0/b2b/clawback/sastoken`: returns a URI that grants access to the publisher's queue for one hour.
 *
 * @see https://learn.microsoft.com/en-us/gaming/gdk/docs/store/commerce/service-to-service/microsoft-store-apis/xstore-v8-clawbackv2-sastoken
 */
export function handleSasTokenRequest(context: ResponseContext, call: StoreHttpRequest): HttpResponse {
  const queue = requireClientId(context, call);
  const expiry = new Date(context.now() + tokenTtlMs).toISOString().replace(/\.\d+Z$/, 'Z');
  const permissions = { sv: '2019-07-07', sp: 'rp', se: expiry, spr: 'https' };
  const query = new URLSearchParams({ ...permissions, sig: signQueueUrl(context, queue, expiry) });
  return jsonResponse(200, { expiresOn: expiry, uri: `https://${queueHost}/${queue}?${query}` });
}

/**
 * Handles a call to the storage account: gets messages, which hides them temporarily, or deletes a message.
 *
 * @see https://learn.microsoft.com/en-us/rest/api/storageservices/get-messages
 */
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
  const count = readNumber(query, 'numofmessages', { defaultValue: 1, min: 1, max: 32 });
  const seconds = readNumber(query, 'visibilitytimeout', {
    defaultValue: defaultVisibilitySeconds,
    min: 1,
    max: maxVisibilitySeconds,
  });
  if (count === undefined || seconds === undefined) {
    return queueErrorResponse(
      400,
      'OutOfRangeQueryParameterValue',
      'A query parameter is out of the permissible range.',
    );
  }
  const visible = listQueuedMessages(state, now()).filter(({ visibleAt }) => visibleAt <= now());
  const isPeek = query.get('peekonly') === 'true';
  const messages = visible.slice(0, count).map((message): ClawbackMessage => {
    if (isPeek) return message;
    const hidden = {
      ...message,
      visibleAt: now() + seconds * secondMs,
      dequeueCount: message.dequeueCount + 1,
      popReceipt: randomBytes(18).toString('base64'),
    };
    state.clawbacks.set(message.lineItemId, hidden);
    return hidden;
  });
  const list = messages.map((message) => toMessageXml(message, isPeek)).join('');
  return xmlResponse(200, list === '' ? '<QueueMessagesList />' : `<QueueMessagesList>${list}</QueueMessagesList>`);
}

function deleteMessage({ state, now }: ResponseContext, messageId: string, query: URLSearchParams): HttpResponse {
  const message = listQueuedMessages(state, now()).find((candidate) => candidate.messageId === messageId);
  if (message === undefined) return queueErrorResponse(404, 'MessageNotFound', 'The specified message does not exist.');
  if (message.popReceipt === undefined || query.get('popreceipt') !== message.popReceipt) {
    return queueErrorResponse(400, 'PopReceiptMismatch', 'The specified pop receipt did not match.');
  }
  state.clawbacks.set(message.lineItemId, { ...message, isDeleted: true });
  return noContentResponse;
}

function readNumber(
  query: URLSearchParams,
  name: string,
  { defaultValue, min, max }: { defaultValue: number; min: number; max: number },
): number | undefined {
  const text = query.get(name);
  const value = text === null ? defaultValue : Number(text);
  return Number.isInteger(value) && value >= min && value <= max ? value : undefined;
}

function toMessageXml(message: ClawbackMessage, isPeek: boolean): string {
  const members = {
    MessageId: message.messageId,
    InsertionTime: new Date(message.insertedAt).toUTCString(),
    ExpirationTime: new Date(message.insertedAt + messageTtlMs).toUTCString(),
    ...(!isPeek && {
      PopReceipt: message.popReceipt,
      TimeNextVisible: new Date(message.visibleAt).toUTCString(),
    }),
    DequeueCount: message.dequeueCount,
    MessageText: message.text,
  };
  const elements = Object.entries(members).map(([name, value]) => `<${name}>${value}</${name}>`);
  return `<QueueMessage>${elements.join('')}</QueueMessage>`;
}
