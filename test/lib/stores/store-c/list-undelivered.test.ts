import { describe, expect, it } from '@jest/globals';
import * as v from 'valibot';
import type { Transaction } from '../../../../lib/purchases/transaction.ts';
import { StoreNotification } from '../../../../lib/stores/store.ts';
import { storeC } from '../../../../lib/stores/store-c/store-c.ts';
import type { StoreContext } from '../../../../lib/stores/store-context.ts';
import { clawbackQueue, eventOf, textOf } from './clawback-queue.ts';
import { askingWith } from './fake-microsoft.ts';

const settings = { tenantId: 'tenant', clientId: 'client', clientSecret: 'secret', sandboxId: 'XDKS.1' };

const payment: Transaction = {
  transactionId: 'store_c:70fd35f2-7e4a-4f27-8df3-a673a5a4d9d9',
  purchaseId: 'store_c:item',
  productId: 'store_c:9N0297GK108W',
  platform: 'store_c',
  sandbox: false,
  purchaseDate: Date.parse('2023-01-24T21:59:19Z'),
};

/** Asking with a table that knows the payment of the example, and another one of the same order. */
const asking = (fetch: StoreContext['fetch'], changes: object = {}): StoreContext => ({
  ...askingWith(fetch, { ...settings, ...changes }),
  listTransactionsById: async (id) =>
    id === payment.transactionId
      ? [{ ...payment, purchaseId: 'store_c:other', productId: 'store_c:9NBLGGH00001' }, payment]
      : [],
});

const missed = async (given: StoreContext) => (await storeC.listUndelivered?.(0, given)) ?? [];

describe('the clawback queue', () => {
  it('gives an event about a known purchase as a message that survives a queue of ours', async () => {
    const queue = clawbackQueue([textOf(eventOf('event-1'))]);
    const messages = await missed(asking(queue.fetch));
    expect(messages).toEqual([
      {
        key: 'event-1',
        type: 'clawback.Revoked',
        at: Date.parse('2023-01-26T08:18:56.710Z'),
        content: {
          state: 'Revoked',
          eventDate: Date.parse('2023-01-26T08:18:52.246Z'),
          purchaseId: 'store_c:item',
          transactionId: payment.transactionId,
          messageId: 'message-0',
          popReceipt: expect.any(String),
        },
      },
    ]);
    expect(v.parse(v.array(StoreNotification), JSON.parse(JSON.stringify(messages)))).toEqual(messages);
  });

  it('keeps its messages until they are taken, and hides them for longer than that needs', async () => {
    const queue = clawbackQueue([textOf(eventOf('event-1')), textOf(eventOf('event-2'))]);
    const messages = await missed(asking(queue.fetch));
    const [first = ''] = queue.calls;
    expect(Number(new URL(first.replace('GET ', '')).searchParams.get('visibilitytimeout'))).toBeGreaterThan(300);
    expect(queue.left()).toHaveLength(2);
    await storeC.confirmEnqueued?.(messages.slice(0, 1), asking(queue.fetch));
    expect(queue.left()).toEqual(['message-1']);
  });

  it('is left as it is when somebody else took the messages since', async () => {
    const queue = clawbackQueue([textOf(eventOf('event-1'))]);
    const messages = await missed(asking(queue.fetch));
    queue.showAll();
    const again = await missed(asking(queue.fetch));
    await storeC.confirmEnqueued?.(messages, asking(queue.fetch));
    expect(queue.left()).toEqual(['message-0']);
    await storeC.confirmEnqueued?.(again, asking(queue.fetch));
    await storeC.confirmEnqueued?.(again, asking(queue.fetch));
    expect(queue.left()).toEqual([]);
  });

  it('is read to its end, batch after batch', async () => {
    const queue = clawbackQueue(Array.from({ length: 70 }, (_, index) => textOf(eventOf(`event-${index}`))));
    expect(await missed(asking(queue.fetch))).toHaveLength(70);
  });

  it.each<[string, object]>([
    ['another sandbox', { sandboxId: 'XDKS.2' }],
    ['an order that the table does not know', { orderId: 'another' }],
    ['a product that the table does not know', { productId: '9NBLGGH99999' }],
    ['a subscription that the table does not know', { orderId: '', recurrenceData: { recurrenceId: 'mdr:0:1:2' } }],
  ])('keeps what is of %s for others', async (_what, data) => {
    const queue = clawbackQueue([textOf(eventOf('not ours', data)), textOf(eventOf('ours'))]);
    const messages = await missed(asking(queue.fetch));
    expect(messages.map(({ key }) => key)).toEqual(['ours']);
    await storeC.confirmEnqueued?.(messages, asking(queue.fetch));
    expect(queue.left()).toEqual(['message-0']);
  });

  it('gives what is of retail, of the own sandbox, or of none', async () => {
    const sandboxes = ['RETAIL', 'retail', 'XDKS.1', 'xdks.1', null, ''];
    const queue = clawbackQueue(sandboxes.map((sandboxId, index) => textOf(eventOf(`${index}`, { sandboxId }))));
    expect(await missed(asking(queue.fetch))).toHaveLength(sandboxes.length);
  });

  it.each([
    ['no base64', '***'],
    ['no JSON', Buffer.from('hello').toString('base64')],
    ['no event', textOf({ id: 'x' })],
    ['an event without a date', textOf({ ...eventOf('x'), time: 'soon' })],
    ['nothing', ''],
  ])('is not stopped by a message with %s', async (_what, text) => {
    const queue = clawbackQueue([text, textOf(eventOf('event-1'))]);
    expect((await missed(asking(queue.fetch))).map(({ key }) => key)).toEqual(['event-1']);
  });

  it('is empty for an application that has none', async () => {
    const { fetch } = clawbackQueue([], ({ pathname }) =>
      pathname.endsWith('/sastoken') ? { status: 404, text: '' } : undefined,
    );
    expect(await missed(asking(fetch))).toEqual([]);
  });

  it.each<[string, (url: URL) => { status?: number; text: string } | undefined, string]>([
    ['its address cannot be asked', () => ({ status: 503, text: '' }), 'ConnectionFailed'],
    ['its address is not given to us', () => ({ status: 403, text: '' }), 'InternalError'],
    ['its address is none', () => ({ text: '{"uri":"http://queue"}' }), 'ConnectionFailed'],
    [
      'it answers with a page',
      ({ pathname }) => (pathname.endsWith('/messages') ? { text: '<html>' } : undefined),
      'ConnectionFailed',
    ],
    [
      'it is down',
      ({ pathname }) => (pathname.endsWith('/messages') ? { status: 500, text: '' } : undefined),
      'ConnectionFailed',
    ],
  ])('is asked again when %s', async (_what, special, code) => {
    const { fetch } = clawbackQueue([textOf(eventOf('event-1'))], special);
    await expect(missed(asking(fetch, { clientId: `client ${_what}` }))).rejects.toMatchObject({ code });
  });
});
