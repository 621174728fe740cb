import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Table } from '../../lib/foundation/table.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
import { callWithPublicKey, callWithSecretKey } from '../../testing/call.ts';
import { givenApp } from '../../testing/given-app.ts';
import { createTestTable } from '../../testing/table.ts';
import { findEvents } from './event-fixture.ts';
import { givenPaidPurchase, paidAt } from './purchase-fixture.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
});

const params = { purchaseId: 'store_a:1' };

describe('GET /v3/purchases/:purchaseId', () => {
  it('returns the purchase with its entitled users', async () => {
    const keys = await givenApp(table);
    await givenPaidPurchase(keys, 'ann');
    const { status, body } = await callWithSecretKey(getPurchase, keys, { params });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      purchaseId: 'store_a:1',
      productId: 'store_a:monthly',
      platform: 'store_a',
      purchaseDate: new Date(paidAt).toISOString(),
      isExpired: false,
      amountMicros: 4_990_000,
      entitledUsers: ['ann'],
    });
    expect(body).not.toHaveProperty('notifications');
  });

  it('returns the notifications for include_notifications=true', async () => {
    const keys = await givenApp(table);
    await givenPaidPurchase(keys, 'ann');
    const { body } = await callWithSecretKey(getPurchase, keys, { params, query: { include_notifications: 'true' } });
    expect(body.notifications).toEqual([{ date: expect.stringMatching(/Z$/), reason: 'PURCHASED' }]);
  });

  it('finds the purchase by its brand id', async () => {
    const keys = await givenApp(table);
    await givenPaidPurchase(keys, 'ann');
    const { body } = await callWithSecretKey(getPurchase, keys, { params: { purchaseId: 'apple:1' } });
    expect(body).toMatchObject({ purchaseId: 'store_a:1' });
  });

  it('records the read as an event of the purchase', async () => {
    const keys = await givenApp(table);
    await givenPaidPurchase(keys, 'ann');
    await callWithSecretKey(getPurchase, keys, { params });
    expect(await findEvents(keys, 'store_a:1')).toMatchObject([
      { tag: 'store_a:1', type: '_P', context: { eventType: 'purchase.read' } },
    ]);
  });

  it("rejects an unknown purchase and another app's purchase with ResourceNotFound", async () => {
    const [owner, otherApp] = [await givenApp(table), await givenApp(table)];
    await givenPaidPurchase(owner, 'ann');
    const expected = { status: 404, body: { code: 'ResourceNotFound' } };
    expect(await callWithSecretKey(getPurchase, owner, { params: { purchaseId: 'store_a:2' } })).toMatchObject(
      expected,
    );
    expect(await callWithSecretKey(getPurchase, otherApp, { params })).toMatchObject(expected);
  });

  it('rejects the public key', async () => {
    const response = await callWithPublicKey(getPurchase, await givenApp(table), { params });
    expect(response).toMatchObject({ status: 403, body: { code: 'Forbidden' } });
  });
});
