import { describe, expect, it } from '@jest/globals';
import * as v from 'valibot';
import type { Transaction } from '../../../../lib/purchases/transaction.ts';
import { microsoftStore } from '../../../../lib/stores/microsoft-store/microsoft-store.ts';
import { StoreNotification } from '../../../../lib/stores/store.ts';
import type { StoreContext } from '../../../../lib/stores/store-context.ts';
import { buildEvent, createClawbackQueue, encodeEvent } from './fake-clawback-queue.ts';
import { createContext } from './fake-microsoft.ts';

const settings = { tenantId: 'tenant', clientId: 'client', clientSecret: 'secret', sandboxId: 'XDKS.1' };

const payment: Transaction = {
  transactionId: 'store_c:70fd35f2-7e4a-4f27-8df3-a673a5a4d9d9',
  purchaseId: 'store_c:item',
  productId: 'store_c:9N0297GK108W',
  platform: 'store_c',
  sandbox: false,
  purchaseDate: Date.parse('2023-01-24T21:59:19Z'),
};

/** Creates a context with two stored payments of one order, for different products. */
const createQueueContext = (fetch: StoreContext['fetch'], settingsChanges: object = {}): StoreContext => ({
  ...createContext(fetch, { ...settings, ...settingsChanges }),
  listTransactionsById: async (id) =>
    id === payment.transactionId
      ? [{ ...payment, purchaseId: 'store_c:other', productId: 'store_c:9NBLGGH00001' }, payment]
      : [],
});

const listUndelivered = async (context: StoreContext) => (await microsoftStore.listUndelivered?.(0, context)) ?? [];

describe('listUndelivered (Microsoft Store)', () => {
  it('converts an event of a stored purchase to a serializable notification', async () => {
    const queue = createClawbackQueue([encodeEvent(buildEvent('event-1'))]);
    const notifications = await listUndelivered(createQueueContext(queue.fetch));
    expect(notifications).toEqual([
      {
        key: 'event-1',
        type: 'clawback.Revoked',
        occurredAt: Date.parse('2023-01-26T08:18:56.710Z'),
        payload: {
          state: 'Revoked',
          eventDate: Date.parse('2023-01-26T08:18:52.246Z'),
          purchaseId: 'store_c:item',
          transactionId: payment.transactionId,
          isChargeback: false,
          messageId: 'message-0',
          popReceipt: expect.any(String),
        },
      },
    ]);
    expect(v.parse(v.array(StoreNotification), JSON.parse(JSON.stringify(notifications)))).toEqual(notifications);
  });

  it.each([
    ['/Purchase/Chargeback', true],
    ['/purchase/chargebackReversal', true],
    ['/Purchase/Refund', false],
    [undefined, undefined],
  ])('converts an event of the source %s to a chargeback: %s', async (source, isChargeback) => {
    const queue = createClawbackQueue([encodeEvent({ ...buildEvent('event-1'), source })]);
    const [notification] = await listUndelivered(createQueueContext(queue.fetch));
    expect(notification?.payload.isChargeback).toBe(isChargeback);
  });

  it.each<[object, object | undefined]>([
    [{ refundType: 'Full', durationInDays: 30, consumedDurationInDays: 10 }, undefined],
    [{ durationInDays: 30, consumedDurationInDays: 10 }, undefined],
    [{ refundType: 'Prorated', durationInDays: 30, consumedDurationInDays: 10 }, { part: 2 / 3 }],
    [{ refundType: 'partial', durationInDays: 40, consumedDurationInDays: 10 }, { part: 0.75 }],
    [{ refundType: 'partial', durationInDays: 30, consumedDurationInDays: 31 }, {}],
    [{ refundType: 'partial' }, {}],
  ])('derives the refunded part of a subscription period from %j', async (data, partialRefund) => {
    const recurrenceData = { recurrenceId: 'mdr:0:1:2', durationIntervalStart: '2023-01-24T21:59:19Z', ...data };
    const queue = createClawbackQueue([encodeEvent(buildEvent('event-1', { recurrenceData }))]);
    const findPurchase: StoreContext['findPurchase'] = async (purchaseId) =>
      ({ purchaseId }) as Awaited<ReturnType<NonNullable<StoreContext['findPurchase']>>>;
    const [notification] = await listUndelivered({ ...createQueueContext(queue.fetch), findPurchase });
    expect(notification?.payload.partialRefund).toEqual(partialRefund);
  });

  it('hides messages for more than five minutes and keeps them until they are confirmed', async () => {
    const queue = createClawbackQueue([encodeEvent(buildEvent('event-1')), encodeEvent(buildEvent('event-2'))]);
    const notifications = await listUndelivered(createQueueContext(queue.fetch));
    const [firstCall = ''] = queue.calls;
    const { searchParams } = new URL(firstCall.replace('GET ', ''));
    expect(Number(searchParams.get('visibilitytimeout'))).toBeGreaterThan(300);
    expect(queue.listRemaining()).toHaveLength(2);
    await microsoftStore.deleteEnqueued?.(notifications.slice(0, 1), createQueueContext(queue.fetch));
    expect(queue.listRemaining()).toEqual(['message-1']);
  });

  it('deletes a message only with its latest receipt, and only once', async () => {
    const queue = createClawbackQueue([encodeEvent(buildEvent('event-1'))]);
    const first = await listUndelivered(createQueueContext(queue.fetch));
    queue.showAll();
    const second = await listUndelivered(createQueueContext(queue.fetch));
    await microsoftStore.deleteEnqueued?.(first, createQueueContext(queue.fetch));
    expect(queue.listRemaining()).toEqual(['message-0']);
    await microsoftStore.deleteEnqueued?.(second, createQueueContext(queue.fetch));
    await microsoftStore.deleteEnqueued?.(second, createQueueContext(queue.fetch));
    expect(queue.listRemaining()).toEqual([]);
  });

  it('receives batches until the queue is empty', async () => {
    const texts = Array.from({ length: 70 }, (_, index) => encodeEvent(buildEvent(`event-${index}`)));
    const queue = createClawbackQueue(texts);
    expect(await listUndelivered(createQueueContext(queue.fetch))).toHaveLength(70);
  });

  it.each<[string, object]>([
    ['another sandbox', { sandboxId: 'XDKS.2' }],
    ['an order that is not stored', { orderId: 'another' }],
    ['a product that is not stored', { productId: '9NBLGGH99999' }],
    ['a subscription that is not stored', { orderId: '', recurrenceData: { recurrenceId: 'mdr:0:1:2' } }],
  ])('leaves events of %s in the queue', async (_case, data) => {
    const queue = createClawbackQueue([encodeEvent(buildEvent('foreign', data)), encodeEvent(buildEvent('own'))]);
    const notifications = await listUndelivered(createQueueContext(queue.fetch));
    expect(notifications.map(({ key }) => key)).toEqual(['own']);
    await microsoftStore.deleteEnqueued?.(notifications, createQueueContext(queue.fetch));
    expect(queue.listRemaining()).toEqual(['message-0']);
  });

  it("returns events of retail, of the app's sandbox and without a sandbox", async () => {
    const sandboxes = ['RETAIL', 'retail', 'XDKS.1', 'xdks.1', null, ''];
    const queue = createClawbackQueue(
      sandboxes.map((sandboxId, index) => encodeEvent(buildEvent(`${index}`, { sandboxId }))),
    );
    expect(await listUndelivered(createQueueContext(queue.fetch))).toHaveLength(sandboxes.length);
  });

  it.each([
    ['that is not base64', '***'],
    ['that is not JSON', Buffer.from('hello').toString('base64')],
    ['that is not an event', encodeEvent({ id: 'x' })],
    ['without a valid date', encodeEvent({ ...buildEvent('x'), time: 'soon' })],
    ['without text', ''],
  ])('skips a message %s', async (_case, text) => {
    const queue = createClawbackQueue([text, encodeEvent(buildEvent('event-1'))]);
    const notifications = await listUndelivered(createQueueContext(queue.fetch));
    expect(notifications.map(({ key }) => key)).toEqual(['event-1']);
  });

  it('returns an empty list for an app without a queue', async () => {
    const { fetch } = createClawbackQueue([], ({ pathname }) =>
      pathname.endsWith('/sastoken') ? { status: 404, text: '' } : undefined,
    );
    expect(await listUndelivered(createQueueContext(fetch))).toEqual([]);
  });

  it.each<[string, string, (url: URL) => { status?: number; text: string } | undefined]>([
    ['ConnectionFailed', 'the URL of the queue is unavailable', () => ({ status: 503, text: '' })],
    ['InternalError', 'the URL of the queue is forbidden', () => ({ status: 403, text: '' })],
    ['ConnectionFailed', 'the URL of the queue is not HTTPS', () => ({ text: '{"uri":"http://queue"}' })],
    [
      'ConnectionFailed',
      'the queue returns an HTML page',
      ({ pathname }) => (pathname.endsWith('/messages') ? { text: '<html>' } : undefined),
    ],
    [
      'ConnectionFailed',
      'the queue is unavailable',
      ({ pathname }) => (pathname.endsWith('/messages') ? { status: 500, text: '' } : undefined),
    ],
  ])('throws %s if %s', async (code, problem, override) => {
    const { fetch } = createClawbackQueue([encodeEvent(buildEvent('event-1'))], override);
    const context = createQueueContext(fetch, { clientId: `client ${problem}` });
    await expect(listUndelivered(context)).rejects.toMatchObject({ code });
  });
});
