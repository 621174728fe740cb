import { beforeAll, describe, expect, it } from '@jest/globals';
import { getCustomerPurchases } from '../../lib/customers/contract.ts';
import type { Table } from '../../lib/foundation/table.ts';
import { dayMs } from '../../lib/foundation/time.ts';
import { callWithPublicKey, callWithSecretKey } from '../../testing/call.ts';
import { createObservation } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { givenPurchase } from '../../testing/given-purchase.ts';
import { createTestTable } from '../../testing/table.ts';
import { findEvents } from './event-fixture.ts';
import { givenPaidPurchase, paidAt } from './purchase-fixture.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
});

const params = { applicationUsername: 'ann' };

describe('GET /v3/customers/:applicationUsername/purchases', () => {
  it("returns the customer's purchases by product id", async () => {
    const keys = await givenApp(table);
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
    const keys = await givenApp(table);
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

  it('returns no purchases for an unknown customer', async () => {
    const { status, body } = await callWithSecretKey(getCustomerPurchases, await givenApp(table), { params });
    expect({ status, body }).toEqual({ status: 200, body: { applicationUsername: 'ann', purchases: {} } });
  });

  it('records the read as an event of the customer', async () => {
    const keys = await givenApp(table);
    await callWithSecretKey(getCustomerPurchases, keys, { params });
    expect(await findEvents(keys, 'ann')).toMatchObject([{ context: { eventType: 'customer.read' } }]);
  });

  it('rejects the public key', async () => {
    const response = await callWithPublicKey(getCustomerPurchases, await givenApp(table), { params });
    expect(response).toMatchObject({ status: 403, body: { code: 'Forbidden' } });
  });
});
