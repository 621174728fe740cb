import { describe, expect, it } from '@jest/globals';
import {
  getCustomer,
  getCustomerPurchases,
  getCustomerSubscription,
  getCustomerTransactions,
} from '../../lib/customers/contract.ts';
import { searchEvents } from '../../lib/events/contract.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { dayMs } from '../../lib/foundation/time.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createObservation, createTransaction } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { givenPurchase } from '../../testing/given-purchase.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { givenPaidPurchase, paidAt } from './purchase-fixture.ts';

const service = startBeforeAll(startTestService);

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
});

const params = { applicationUsername: 'ann' };

describe('GET /v3/customers/:applicationUsername/purchases', () => {
  it("returns the customer's purchases by product id", async () => {
    const keys = await givenApp(getService().table);
    await givenPaidPurchase(keys, 'ann');
    const coins = createObservation({
      purchaseId: 'store_a:2',
      transactionId: 'store_a:2',
      productId: 'store_a:coins',
      productType: 'consumable',
      purchaseDate: paidAt,
    });
    await givenPurchase(keys.appName, 'bob', coins);
    const { body } = await callWithSecretKey(getCustomerPurchases, keys, { params });
    expect(body).toEqual({
      applicationUsername: 'ann',
      purchases: {
        'store_a:monthly': expect.objectContaining({
          purchaseId: 'store_a:1',
          purchaseDate: new Date(paidAt).toISOString(),
          isExpired: false,
          amountUSD: 4.99,
        }),
      },
    });
  });

  it('returns the active purchase if a product has several', async () => {
    const keys = await givenApp(getService().table);
    await givenPaidPurchase(keys, 'ann');
    const expired = createObservation({
      purchaseId: 'store_a:older',
      transactionId: 'store_a:older',
      purchaseDate: paidAt - 60 * dayMs,
      expirationDate: paidAt - 30 * dayMs,
    });
    await givenPurchase(keys.appName, 'ann', expired);
    const { body } = await callWithSecretKey(getCustomerPurchases, keys, { params });
    expect(body.purchases['store_a:monthly']).toMatchObject({ purchaseId: 'store_a:1', isExpired: false });
  });
});

describe('GET /v3/customers/:applicationUsername/subscription', () => {
  it('returns the active subscription', async () => {
    const keys = await givenApp(getService().table);
    await givenPaidPurchase(keys, 'ann');
    const { status, body } = await callWithSecretKey(getCustomerSubscription, keys, { params });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      applicationUsername: 'ann',
      subscription: { purchaseId: 'store_a:1', productId: 'store_a:monthly', isExpired: false },
    });
  });

  it('returns the last subscription if none is active', async () => {
    const keys = await givenApp(getService().table);
    const expired = createObservation({ purchaseDate: paidAt - 60 * dayMs, expirationDate: paidAt - 30 * dayMs });
    await givenPurchase(keys.appName, 'ann', expired);
    const { body } = await callWithSecretKey(getCustomerSubscription, keys, { params });
    expect(body.subscription).toMatchObject({ purchaseId: 'store_a:1', isExpired: true });
  });

  it('returns no subscription for a customer with a consumable', async () => {
    const keys = await givenApp(getService().table);
    const { purchase, ...observation } = createObservation({ productType: 'consumable', productId: 'store_a:coins' });
    const { expirationDate: _expirationDate, ...consumable } = purchase;
    await givenPurchase(keys.appName, 'ann', { ...observation, purchase: consumable });
    const { body } = await callWithSecretKey(getCustomerSubscription, keys, { params });
    expect(body).toEqual({ applicationUsername: 'ann' });
  });
});

describe('GET /v3/customers/:applicationUsername/transactions', () => {
  it("returns the transactions of the customer's purchases, latest first", async () => {
    const keys = await givenApp(getService().table);
    const observation = createObservation({ purchaseDate: paidAt, expirationDate: paidAt + 60 * dayMs });
    const renewal = createTransaction(observation.purchase, {
      transactionId: 'store_a:renewal',
      purchaseDate: paidAt + 30 * dayMs,
    });
    const transactions = [...observation.transactions, renewal];
    await givenPurchase(keys.appName, 'ann', { ...observation, transactions });
    const { status, body } = await callWithSecretKey(getCustomerTransactions, keys, { params });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      applicationUsername: 'ann',
      transactions: [
        { transactionId: 'store_a:renewal', purchaseId: 'store_a:1', amountMicros: 4_990_000, currency: 'USD' },
        { transactionId: 'store_a:1', purchaseId: 'store_a:1', purchaseDate: new Date(paidAt).toISOString() },
      ],
    });
  });
});
