import { beforeAll, describe, expect, it } from '@jest/globals';
import { getCustomerSubscription } from '../../lib/customers/contract.ts';
import type { Table } from '../../lib/foundation/table.ts';
import { dayMs } from '../../lib/foundation/time.ts';
import { callWithPublicKey, callWithSecretKey } from '../../testing/call.ts';
import { createObservation } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { givenPurchase } from '../../testing/given-purchase.ts';
import { createTestTable } from '../../testing/table.ts';
import { givenPaidPurchase, paidAt } from './purchase-fixture.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
});

const params = { applicationUsername: 'ann' };

describe('GET /v3/customers/:applicationUsername/subscription', () => {
  it('returns the active subscription', async () => {
    const keys = await givenApp(table);
    await givenPaidPurchase(keys, 'ann');
    const { status, body } = await callWithSecretKey(getCustomerSubscription, keys, { params });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      applicationUsername: 'ann',
      subscription: { purchaseId: 'store_a:1', productId: 'store_a:monthly', isExpired: false },
    });
  });

  it('returns the last subscription if none is active', async () => {
    const keys = await givenApp(table);
    const expired = createObservation({ purchaseDate: paidAt - 60 * dayMs, expirationDate: paidAt - 30 * dayMs });
    await givenPurchase(keys.appName, 'ann', expired);
    const { body } = await callWithSecretKey(getCustomerSubscription, keys, { params });
    expect(body.subscription).toMatchObject({ purchaseId: 'store_a:1', isExpired: true });
  });

  it('returns no subscription for a customer with a consumable', async () => {
    const keys = await givenApp(table);
    const { purchase, ...observation } = createObservation({ productType: 'consumable', productId: 'store_a:coins' });
    const { expirationDate: _expirationDate, ...consumable } = purchase;
    await givenPurchase(keys.appName, 'ann', { ...observation, purchase: consumable });
    const { body } = await callWithSecretKey(getCustomerSubscription, keys, { params });
    expect(body).toEqual({ applicationUsername: 'ann' });
  });

  it('rejects the public key', async () => {
    const response = await callWithPublicKey(getCustomerSubscription, await givenApp(table), { params });
    expect(response).toMatchObject({ status: 403, body: { code: 'Forbidden' } });
  });
});
