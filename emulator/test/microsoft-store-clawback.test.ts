import { afterAll, beforeAll, expect, it, test } from '@jest/globals';
import type { TestResponse } from './emulator-client.ts';
import {
  type MicrosoftStoreClient,
  purchaseHost,
  startMicrosoftStoreClient,
  startTime,
} from './microsoft-store-client-app.ts';

let client: MicrosoftStoreClient;
beforeAll(async () => {
  client = await startMicrosoftStoreClient();
});
afterAll(() => client.close());

/** Fetches the URI of the queue, redirected to the emulator. */
async function queue(): Promise<URL> {
  const headers = { authorization: `Bearer ${await client.token()}` };
  const { body } = await client.call(`/${purchaseHost}/v8.0/b2b/clawback/sastoken`, { headers });
  return new URL(body.uri.replace('https:/', client.url));
}

/** Calls the queue at a path below its URI with additional parameters. */
async function ask(path: string, query: Record<string, string> = {}, method = 'GET'): Promise<TestResponse> {
  const { pathname, searchParams } = await queue();
  return client.call(`${pathname}${path}?${new URLSearchParams([...searchParams, ...Object.entries(query)])}`, {
    method,
  });
}

interface Message {
  readonly id: string;
  readonly popReceipt: string;
  readonly count: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read events of every shape.
  readonly event: any;
}

/** Parses the messages of a queue response. */
async function take(query: Record<string, string> = {}): Promise<Message[]> {
  const { body } = await ask('/messages', { numofmessages: '32', ...query });
  const texts: string[] = body.match(/<QueueMessage>.*?<\/QueueMessage>/g) ?? [];
  const member = (text: string, name: string): string => new RegExp(`<${name}>(.*?)</${name}>`).exec(text)?.[1] ?? '';
  return texts.map((text) => ({
    id: member(text, 'MessageId'),
    popReceipt: member(text, 'PopReceipt'),
    count: member(text, 'DequeueCount'),
    event: JSON.parse(Buffer.from(member(text, 'MessageText'), 'base64').toString('utf8')),
  }));
}

const remove = ({ id, popReceipt }: Message): Promise<TestResponse> =>
  ask(`/messages/${id}`, { popreceipt: popReceipt }, 'DELETE');

async function emptyQueue(): Promise<void> {
  for (const message of await take()) await remove(message);
}

it('names the start of the refunded period, and sums the payments and refunds of the purchase', async () => {
  const { id } = (await client.buy({ productId: 'early', priceMicros: 3_000_000 })).body;
  await client.act(id, 'renew');
  await client.act(id, 'refund');
  const [{ event } = { event: undefined }] = await take();
  const { recurrenceData } = event.data;
  expect(recurrenceData.durationIntervalStart).toMatch(/^2027-02-28T10:00:00/);
  const { body } = await client.call(`/control/purchases/${id}`);
  expect(body).toMatchObject({ paidMicros: 6_000_000, refundedMicros: 3_000_000 });
  await emptyQueue();
});

it('queues an event for each refunded subscription of every sandbox', async () => {
  const { id } = (await client.buy({ productId: 'club', sandbox: true })).body;
  await client.act(id, 'refund');
  const [{ event } = { event: undefined }] = await take();
  expect(event).toEqual({
    id: expect.any(String),
    source: expect.any(String),
    type: 'clawback',
    subject: expect.any(String),
    time: expect.stringMatching(/^2027-01-31T10:00:00/),
    data: {
      lineItemId: expect.any(String),
      orderId: expect.any(String),
      productId: 'club',
      productType: 'Durable',
      purchasedDate: expect.any(String),
      eventDate: expect.any(String),
      eventState: 'Refunded',
      sandboxId: 'XDKS.1',
      skuId: '0010',
      recurrenceData: expect.objectContaining({ recurrenceId: id, refundType: 'Full' }),
    },
  });
  await client.advance('PT1M');
  await emptyQueue();
});

it('hides a fetched message temporarily and removes a deleted message', async () => {
  const { id } = (await client.buy({ productId: 'book', type: 'non consumable' })).body;
  await client.act(id, 'refund');
  const [first] = await take({ visibilitytimeout: '60' });
  expect(await take()).toEqual([]);
  await client.advance('PT1M');
  const [second] = await take();
  expect(second).toMatchObject({ id: first?.id, event: { id: first?.event.id }, count: '2' });
  expect(first && (await remove(first))).toMatchObject({
    status: 400,
    body: expect.stringContaining('PopReceiptMismatch'),
  });
  expect(second && (await remove(second))).toMatchObject({ status: 204 });
  expect(second && (await remove(second))).toMatchObject({
    status: 404,
    body: expect.stringContaining('MessageNotFound'),
  });
  await client.advance('PT1M');
  expect(await take()).toEqual([]);
});

it('peeks messages without hiding them', async () => {
  const { id } = (await client.buy({ productId: 'hat', type: 'non consumable' })).body;
  await client.act(id, 'refund');
  expect(await take({ peekonly: 'true' })).toMatchObject([{ popReceipt: '', count: '0' }]);
  expect(await take()).toHaveLength(1);
  await client.advance('P7D');
  expect(await take()).toEqual([]);
});

it('returns one message by default and at most 32', async () => {
  for (const productId of ['one', 'two']) {
    const { id } = (await client.buy({ productId, type: 'non consumable' })).body;
    await client.act(id, 'refund');
  }
  const { body, headers } = await ask('/messages', { peekonly: 'true' });
  expect(body.match(/<QueueMessage>/g)).toHaveLength(1);
  expect(headers.get('content-type')).toBe('application/xml');
  expect(await ask('/messages', { numofmessages: '33' })).toMatchObject({ status: 400 });
  await emptyQueue();
});

test.each([
  ['a wrong signature', { sig: 'wrong' }],
  ['a later expiration', { se: '2090-01-01T00:00:00Z' }],
])('rejects a URI with %s', async (_name, changes) => {
  const { pathname, searchParams } = await queue();
  const query = new URLSearchParams({ ...Object.fromEntries(searchParams), ...changes });
  expect(await client.call(`${pathname}/messages?${query}`)).toMatchObject({ status: 403 });
});

it('rejects an expired URI, and a request without a token', async () => {
  client.clock.set(startTime);
  const { pathname, search } = await queue();
  expect(await client.call(`${pathname}/messages${search}`)).toMatchObject({ status: 200 });
  await client.advance('PT1H');
  expect(await client.call(`${pathname}/messages${search}`)).toMatchObject({ status: 403 });
  expect(await client.call(`/${purchaseHost}/v8.0/b2b/clawback/sastoken`)).toMatchObject({ status: 401 });
});
