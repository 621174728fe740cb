import type { StoreFetch, StoreResponse } from '../../../../lib/stores/store-context.ts';
import { createResponse } from './fake-microsoft.ts';

const signature =
  'sv=2021-10-04&spr=https&st=2023-01-20T22%3A59%3A25Z&se=2023-01-21T04%3A59%3A25Z&sp=rp&sig=zJ4n%2BJdc%3D';
const queueUrl = 'https://uluufeofsxh2k.queue.core.windows.net/gxhxcvb32lnk4';

/** Builds Microsoft's example of a clawback event with other data. */
export const buildEvent = (id: string, data: object = {}) => ({
  id,
  source: '/Purchase/Refund',
  type: 'ClawbackEventContractV2',
  data: {
    lineItemId: '230e9063-bffe-411a-8aa1-6f99ca091452',
    orderId: '70fd35f2-7e4a-4f27-8df3-a673a5a4d9d9',
    productId: '9N0297GK108W',
    productType: 'UnmanagedConsumable',
    purchasedDate: '2023-01-24T21:59:19.5725585+00:00',
    eventDate: '2023-01-26T08:18:52.246847+00:00',
    eventState: 'Revoked',
    sandboxId: 'RETAIL',
    skuId: '0010',
    ...data,
  },
  time: '2023-01-26T08:18:56.7103057+00:00',
  specversion: '1.0',
  datacontenttype: 'application/json',
  subject: '/Purchase/Refund/907eb4af-57bf-4ff6-b040-e9296d169436',
  traceparent: '00-6d2a86a53e8cae15cddaadc43f4d9670-4821cba073c416c1-00',
});

/** Azure Queue Storage behind Microsoft's SAS token endpoint. */
export interface ClawbackQueue {
  readonly fetch: StoreFetch;
  /** Calls of the queue, as method and URL. */
  readonly calls: string[];
  /** Lists the ids of the messages that are not deleted. */
  readonly listRemaining: () => string[];
  /** Makes all messages visible again, like the end of the visibility timeout. */
  readonly showAll: () => void;
}

/** Creates a queue with messages `message-0`, `message-1`, …. `override` can return another response to a call. */
export function createClawbackQueue(
  texts: readonly string[],
  override: (url: URL, method: string) => { status?: number; text: string } | undefined = () => undefined,
): ClawbackQueue {
  const calls: string[] = [];
  const messages = new Map(texts.map((text, index) => [`message-${index}`, { text, receipt: 0, isVisible: true }]));
  const fetch: StoreFetch = async (requestUrl, { method = 'GET', headers = {} } = {}) => {
    const url = new URL(requestUrl);
    if (url.host.startsWith('login.')) return tokenResponse;
    const response = override(url, method);
    if (response) return createResponse(response);
    if (url.pathname.endsWith('/sastoken')) {
      const isAllowed = headers.authorization === 'Bearer token' && method === 'GET';
      return createResponse(isAllowed ? { text: sasText } : { status: 401, text: '' });
    }
    calls.push(`${method} ${requestUrl}`);
    if (!requestUrl.startsWith(`${queueUrl}/messages`) || !requestUrl.includes(`?${signature}`))
      return errorResponse(403);
    return method === 'DELETE' ? deleteMessage(url) : getMessages(Number(url.searchParams.get('numofmessages') ?? 1));
  };
  const getMessages = (count: number): StoreResponse => {
    const batch = [...messages].filter(([, { isVisible }]) => isVisible).slice(0, count);
    for (const [, message] of batch) Object.assign(message, { isVisible: false, receipt: message.receipt + 1 });
    return createResponse({ text: toXml(batch.map(([id, { text, receipt }]) => ({ id, text, receipt }))) });
  };
  const deleteMessage = ({ pathname, searchParams }: URL): StoreResponse => {
    const id = decodeURIComponent(pathname.split('/').at(-1) ?? '');
    const message = messages.get(id);
    if (!message) return errorResponse(404);
    if (searchParams.get('popreceipt') !== toPopReceipt(message.receipt)) return errorResponse(400);
    messages.delete(id);
    return createResponse({ status: 204, text: '' });
  };
  return {
    fetch,
    calls,
    listRemaining: () => [...messages.keys()],
    showAll: () => {
      for (const message of messages.values()) message.isVisible = true;
    },
  };
}

/** Encodes an event as the text of a queue message. */
export const encodeEvent = (event: object): string => Buffer.from(JSON.stringify(event)).toString('base64');

const sasText = JSON.stringify({ uri: `${queueUrl}?${signature}`, expiresOn: '2023-01-21T04:59:25Z' });
const tokenResponse = createResponse({ text: JSON.stringify({ expires_in: '3599', access_token: 'token' }) });
const errorResponse = (status: number): StoreResponse =>
  createResponse({ status, text: '<?xml version="1.0"?><Error/>' });

/** Contains characters that must be encoded in a URL. */
const toPopReceipt = (count: number): string => `AgAAAAMAAAAAAAAA/+4YHSMt${count}=`;

const toXml = (batch: readonly { id: string; text: string; receipt: number }[]): string => {
  const messages = batch.map(
    ({ id, text, receipt }) => `<QueueMessage>
      <MessageId>${id}</MessageId><InsertionTime>Thu, 26 Jan 2023 08:18:57 GMT</InsertionTime>
      <ExpirationTime>Thu, 02 Feb 2023 08:18:57 GMT</ExpirationTime><PopReceipt>${toPopReceipt(receipt)}</PopReceipt>
      <TimeNextVisible>Thu, 26 Jan 2023 08:30:00 GMT</TimeNextVisible><DequeueCount>${receipt}</DequeueCount>
      <MessageText>${text}</MessageText></QueueMessage>`,
  );
  const list =
    messages.length > 0 ? `<QueueMessagesList>${messages.join('')}</QueueMessagesList>` : '<QueueMessagesList />';
  return `\uFEFF<?xml version="1.0" encoding="utf-8"?>${list}`;
};
