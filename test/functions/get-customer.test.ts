import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getCustomer } from '../../lib/customers/contract.ts';
import { searchEvents } from '../../lib/events/contract.ts';
import { getService } from '../../lib/foundation/container.ts';
import { callWithPublicKey, callWithSecretKey } from '../../testing/call.ts';
import { givenApp } from '../../testing/given-app.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { findEvents } from './event-fixture.ts';
import { givenPaidPurchase, paidAt } from './purchase-fixture.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

describe('GET /v3/customers/:applicationUsername', () => {
  it('returns the purchases, the transactions and the summary of the customer', async () => {
    const keys = await givenApp(getService().table);
    await givenPaidPurchase(keys, 'ann');
    await givenPaidPurchase(keys, 'bob');
    const { status, body } = await callWithSecretKey(getCustomer, keys, { params: { applicationUsername: 'ann' } });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      applicationUsername: 'ann',
      purchases: { 'store_a:monthly': { purchaseId: 'store_a:1', isExpired: false } },
      transactions: [{ transactionId: 'store_a:1', amountUSD: 4.99 }],
      events: [],
      customerInfo: {
        activeSubscriber: true,
        lapsedSubscriber: false,
        lastPurchaseId: 'store_a:1',
        lastPurchaseDate: new Date(paidAt).toISOString(),
      },
    });
  });

  it('records the read as an event of the customer', async () => {
    const keys = await givenApp(getService().table);
    await callWithSecretKey(getCustomer, keys, { params: { applicationUsername: 'ann' } });
    expect(await findEvents(keys, 'ann')).toMatchObject([
      { tag: 'ann', type: '_A', context: { eventType: 'customer.read', applicationUsername: 'ann' } },
    ]);
  });

  it('returns the latest ten events, newest first', async () => {
    const keys = await service.createApp(['store_b']);
    const order = { platform: 'store_b', productId: 'premium', type: 'paid subscription', applicationUsername: 'dan' };
    const { id, validate } = await service.callControl('/purchases', order);
    expect((await service.validate(keys, validate)).body.ok).toBe(true);
    // Events of other customers.
    for (let count = 0; count < 11; count++)
      await callWithSecretKey(searchEvents, keys, { params: { tag: 'unknown' } });
    const fetchCustomerEvents = async () =>
      (await callWithSecretKey(getCustomer, keys, { params: { applicationUsername: 'dan' } })).body.events;
    expect(await fetchCustomerEvents()).toMatchObject([
      {
        eventInfo: {
          type: 'receipt.validated',
          purchaseIds: [`store_b:${id}`],
          response: { status: 200, ok: true, message: 'OK' },
        },
      },
    ]);
    for (let count = 0; count < 10; count++) await fetchCustomerEvents();
    const events = await fetchCustomerEvents();
    expect(events).toHaveLength(10);
    const dates = events.map(({ eventInfo }: { eventInfo: { date: string } }) => eventInfo.date);
    expect(dates).toEqual([...dates].sort().reverse());
  });

  it('rejects the public key', async () => {
    const response = await callWithPublicKey(getCustomer, await givenApp(getService().table), {
      params: { applicationUsername: 'ann' },
    });
    expect(response).toMatchObject({ status: 403, body: { code: 'Forbidden' } });
  });
});
