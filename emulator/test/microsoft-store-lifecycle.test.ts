import { beforeEach, describe, expect, it, test } from '@jest/globals';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import type { TestResponse } from './emulator-client.ts';
import { purchaseHost, startMicrosoftStoreClient, startTime } from './microsoft-store-client-app.ts';
import { runSteps, type Step } from './random-histories.ts';

const client = startBeforeAll(startMicrosoftStoreClient);

let purchaseCount = 0;

/** Buys a monthly subscription at `startTime`, runs the steps and fetches it. */
async function runHistory(steps: readonly Step[], order: object = {}) {
  client.clock.set(startTime);
  purchaseCount += 1;
  const { id } = (await client.buy({ productId: `product ${purchaseCount}`, ...order })).body;
  await runSteps(client, id, steps);
  return { id, item: (await client.recurrences(id)).body.items[0] };
}

const formatTimestamp = (day: string): string => `${day}T10:00:00.0000000+00:00`;
const active = { recurrenceState: 'Active', autoRenew: true, expirationTime: formatTimestamp('2027-02-28') };

describe('subscription of the Microsoft Store', () => {
  test.each<[string, readonly Step[], object, object]>([
    [
      'is active after the purchase',
      [],
      {},
      {
        ...active,
        startTime: formatTimestamp('2027-01-31'),
        expirationTimeWithGrace: formatTimestamp('2027-03-14'),
        isTrial: false,
      },
    ],
    [
      'renews',
      [['renew']],
      {},
      { ...active, expirationTime: formatTimestamp('2027-03-31'), startTime: formatTimestamp('2027-01-31') },
    ],
    [
      'renews automatically',
      ['P3M'],
      { autoRenew: true },
      { ...active, expirationTime: formatTimestamp('2027-05-31') },
    ],
    [
      'ends its trial with the renewal',
      [['renew']],
      { trial: 'P1W' },
      { isTrial: false, expirationTime: formatTimestamp('2027-03-07') },
    ],
    ['starts with a trial', [], { trial: 'P1W' }, { isTrial: true, expirationTime: formatTimestamp('2027-02-07') }],
    [
      'stays active after a cancellation',
      [['cancel']],
      {},
      { ...active, autoRenew: false, cancellationDate: formatTimestamp('2027-01-31') },
    ],
    ['renews again after the cancellation is reverted', [['cancel'], ['uncancel']], {}, active],
    ['stays active for 3 h after its expiration', [['cancel'], 'P1M', 'PT2H'], {}, { ...active, autoRenew: false }],
    ['is inactive after 3 h', [['cancel'], 'P1M', 'PT3H'], {}, { recurrenceState: 'Inactive', autoRenew: false }],
    [
      'is in dunning after a failed payment',
      [['fail-payment'], 'P1M'],
      {},
      { ...active, recurrenceState: 'InDunning' },
    ],
    [
      'fails at the end of the grace period',
      [['fail-payment'], 'P1M', 'P14D'],
      {},
      { recurrenceState: 'Failed', autoRenew: false },
    ],
    [
      'fails immediately without a grace period',
      [['fail-payment', { grace: false }]],
      {},
      { recurrenceState: 'Failed' },
    ],
    ['fails after a second failed payment', [['fail-payment'], ['fail-payment']], {}, { recurrenceState: 'Failed' }],
    [
      'recovers without a gap',
      ['P1M', ['fail-payment'], 'P3D', ['recover']],
      {},
      { ...active, expirationTime: formatTimestamp('2027-03-31') },
    ],
    [
      'is inactive after a cancellation in dunning',
      [['fail-payment'], ['cancel']],
      {},
      { recurrenceState: 'Inactive' },
    ],
    [
      'ends if it is refunded',
      ['P1D', ['refund']],
      {},
      { recurrenceState: 'Canceled', cancellationDate: formatTimestamp('2027-02-01') },
    ],
    ['ends if it is revoked', [['revoke']], {}, { recurrenceState: 'Canceled' }],
    [
      'ends with the action expire',
      ['P1D', ['expire']],
      {},
      { recurrenceState: 'Inactive', expirationTime: formatTimestamp('2027-02-01') },
    ],
  ])('%s', async (_what, steps, order, expected) => {
    expect((await runHistory(steps, order)).item).toMatchObject(expected);
  });

  test.each<[string, readonly Step[], string]>([
    ['a renewal of a canceled subscription', [['cancel']], 'renew'],
    ['a renewal of an ended subscription', [['expire']], 'renew'],
    ['a second cancellation', [['cancel']], 'cancel'],
    ['uncancel without a cancellation', [], 'uncancel'],
    ['a recovery without a failed payment', [], 'recover'],
    ['a failed payment without a due payment', [['cancel']], 'fail-payment'],
    ['a second refund', [['refund']], 'refund'],
    ['pause', [], 'pause'],
    ['a plan change', [], 'change-plan'],
    ['a price increase', [], 'raise-price'],
    ['share', [], 'share'],
  ])('rejects %s', async (_what, steps, action) => {
    const { id } = await runHistory(steps);
    expect(await client.act(id, action)).toMatchObject({ status: 422, body: { message: expect.any(String) } });
  });

  it('allows another purchase only after its end', async () => {
    const order = { productId: 'sold again', applicationUsername: 'buyer' };
    const { id } = await runHistory([], order);
    expect(await client.buy(order)).toMatchObject({ status: 422 });
    await client.act(id, 'expire');
    expect((await client.buy(order)).body.id).not.toBe(id);
    expect((await client.recurrences(id)).body.items).toHaveLength(2);
  });

  it('rejects an introductory price', async () => {
    expect(await client.buy({ productId: 'intro', intro: true })).toMatchObject({ status: 422 });
  });
});

describe('POST /v8.0/b2b/recurrences/{id}/change', () => {
  const change = async (id: string, body: object) =>
    client.post(purchaseHost, `/v8.0/b2b/recurrences/${id}/change`, {
      b2bKey: await client.key('purchase', id),
      ...body,
    });

  test.each([
    [
      { changeType: 'Cancel' },
      { recurrenceState: 'Active', autoRenew: false, expirationTime: formatTimestamp('2027-02-28') },
    ],
    [{ changeType: 'Refund' }, { recurrenceState: 'Canceled' }],
    [{ changeType: 'ToggleAutoRenew' }, { recurrenceState: 'Active', autoRenew: false }],
    [{ changeType: 'Extend', extensionTimeInDays: '3' }, { expirationTime: formatTimestamp('2027-03-03') }],
  ])('changes a subscription by %j', async (body, expected) => {
    const { id } = await runHistory([]);
    expect(await change(id, body)).toMatchObject({ status: 200, body: { id, ...expected } });
    expect((await client.recurrences(id)).body.items).toMatchObject([expected]);
  });

  it('rejects a missing subscription and an unknown change type', async () => {
    const { id } = await runHistory([]);
    expect(await change(id, { changeType: 'Pause' })).toMatchObject({ status: 400 });
    expect(await change(id, { changeType: 'Extend' })).toMatchObject({ status: 400 });
    const path = '/v8.0/b2b/recurrences/mdr:0:none/change';
    const body = { b2bKey: await client.key('purchase', id), changeType: 'Cancel' };
    expect(await client.post(purchaseHost, path, body)).toMatchObject({ status: 404 });
  });
});

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

describe('clawback queue of the Microsoft Store', () => {
  beforeEach(async () => {
    client.clock.set(startTime);
    await client.reset();
  });

  it('names the start of the refunded period, and sums the payments and refunds of the purchase', async () => {
    const { id } = (await client.buy({ productId: 'early', priceMicros: 3_000_000 })).body;
    await client.act(id, 'renew');
    await client.act(id, 'refund');
    const [{ event } = { event: undefined }] = await take();
    const { recurrenceData } = event.data;
    expect(recurrenceData.durationIntervalStart).toMatch(/^2027-02-28T10:00:00/);
    const { body } = await client.call(`/control/purchases/${id}`);
    expect(body).toMatchObject({ paidMicros: 6_000_000, refundedMicros: 3_000_000 });
  });

  it('refunds the unused days of a period if the refund is prorated', async () => {
    const { id } = (await client.buy({ productId: 'early', priceMicros: 3_000_000 })).body;
    await client.advance('P7D');
    expect((await client.act(id, 'refund', { prorated: true })).body).toMatchObject({ refundedMicros: 2_250_000 });
    const [{ event } = { event: undefined }] = await take();
    const counts = { durationInDays: 28, consumedDurationInDays: 7 };
    expect(event.data.recurrenceData).toMatchObject({ ...counts, refundType: 'Partial' });
  });

  it('queues an event for each refunded subscription of every sandbox', async () => {
    const { id } = (await client.buy({ productId: 'club', sandbox: true })).body;
    await client.act(id, 'refund');
    const [{ event } = { event: undefined }] = await take();
    expect(event).toEqual({
      id: expect.any(String),
      source: '/Purchase/Refund',
      type: 'ClawbackEventContractV2',
      subject: expect.any(String),
      time: expect.stringMatching(/^2027-01-31T10:00:00/),
      data: {
        lineItemId: expect.any(String),
        orderId: expect.any(String),
        productId: 'club',
        productType: 'Durable',
        purchasedDate: expect.any(String),
        eventDate: expect.any(String),
        eventState: 'Revoked',
        sandboxId: 'XDKS.1',
        skuId: '0010',
        recurrenceData: expect.objectContaining({ recurrenceId: id, refundType: 'Full' }),
      },
    });
  });

  it.each<[type: string, actions: string[], states: string[], isOwned: boolean, refunds: number]>([
    ['paid subscription', ['chargeback', 'reverse-chargeback'], ['Revoked', 'ChargebackReversal'], true, 0],
    ['non consumable', ['chargeback', 'reverse-chargeback'], ['Returned', 'ChargebackReversal'], true, 0],
    ['consumable', ['consume', 'chargeback'], ['Revoked'], false, 1],
    // The store restores a developer-managed consumable even if it was consumed.
    ['consumable', ['consume', 'chargeback', 'reverse-chargeback'], ['Revoked', 'ChargebackReversal'], true, 0],
    ['non consumable', ['refund', 'chargeback'], ['Returned', 'Revoked'], false, 2],
    [
      'non consumable',
      ['refund', 'chargeback', 'reverse-chargeback'],
      ['Returned', 'Revoked', 'ChargebackReversal'],
      false,
      1,
    ],
    [
      'non consumable',
      ['chargeback', 'refund', 'reverse-chargeback'],
      ['Returned', 'Revoked', 'ChargebackReversal'],
      false,
      1,
    ],
    ['paid subscription', ['keep', 'chargeback'], ['Refunded', 'Revoked'], false, 2],
    [
      'paid subscription',
      ['chargeback', 'keep', 'reverse-chargeback'],
      ['Revoked', 'Refunded', 'ChargebackReversal'],
      true,
      1,
    ],
  ])('queues each event of a payment (%s: %j)', async (type, actions, states, isOwned, refunds) => {
    const { id } = (await client.buy({ productId: `twice ${type} ${actions}`, type })).body;
    for (const action of actions) {
      const keep = action === 'keep';
      expect((await client.act(id, keep ? 'refund' : action, { ...(keep && { keep }) })).status).toBe(200);
      await client.advance('PT1H');
    }
    const events = (await take()).map(({ event }) => event);
    expect(events.map(({ data }) => data.eventState)).toEqual(states);
    expect(new Set(events.map((event) => event.id)).size).toBe(states.length);
    const { body } = await client.call(`/control/purchases/${id}`);
    expect(body.payments[0].refunds).toHaveLength(refunds);
    expect(body.state === 'Active' && body.quantity > 0).toBe(isOwned);
  });

  it('rejects a second refund, and the reversal of a chargeback that is missing', async () => {
    const { id } = (await client.buy({ productId: 'once', type: 'non consumable' })).body;
    expect(await client.act(id, 'reverse-chargeback')).toMatchObject({ status: 422 });
    await client.act(id, 'refund');
    expect(await client.act(id, 'refund', { keep: true })).toMatchObject({ status: 422 });
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
    const { pathname, search } = await queue();
    expect(await client.call(`${pathname}/messages${search}`)).toMatchObject({ status: 200 });
    await client.advance('PT1H');
    expect(await client.call(`${pathname}/messages${search}`)).toMatchObject({ status: 403 });
    expect(await client.call(`/${purchaseHost}/v8.0/b2b/clawback/sastoken`)).toMatchObject({ status: 401 });
  });
});
