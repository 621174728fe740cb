import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Table } from '../../lib/foundation/table.ts';
import { getTransaction } from '../../lib/purchases/transaction-contract.ts';
import { callWithPublicKey, callWithSecretKey } from '../../testing/call.ts';
import { givenApp } from '../../testing/given-app.ts';
import { createTestTable } from '../../testing/table.ts';
import { findEvents } from './event-fixture.ts';
import { givenPaidPurchase, paidAt } from './purchase-fixture.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
});

const params = { transactionId: 'store_a:1' };

describe('GET /v3/transactions/:transactionId', () => {
  it.each(['store_a:1', 'apple:1'])('returns the transaction %s', async (transactionId) => {
    const keys = await givenApp(table);
    await givenPaidPurchase(keys, 'ann');
    const { status, body } = await callWithSecretKey(getTransaction, keys, { params: { transactionId } });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      transactionId: 'store_a:1',
      purchaseId: 'store_a:1',
      productId: 'store_a:monthly',
      platform: 'store_a',
      sandbox: false,
      purchaseDate: new Date(paidAt).toISOString(),
      amountUSD: 4.99,
      amountMicros: 4_990_000,
      currency: 'USD',
    });
  });

  it('returns the state of the purchase with its latest transaction', async () => {
    const keys = await givenApp(table);
    await givenPaidPurchase(keys, 'ann');
    const { body } = await callWithSecretKey(getTransaction, keys, { params });
    expect(body).toMatchObject({ renewalIntent: 'Renew' });
  });

  it('records the read as an event of the transaction', async () => {
    const keys = await givenApp(table);
    await givenPaidPurchase(keys, 'ann');
    await callWithSecretKey(getTransaction, keys, { params });
    expect(await findEvents(keys, 'store_a:1')).toMatchObject([
      { tag: 'store_a:1', type: '_T', context: { eventType: 'transaction.read' } },
    ]);
  });

  it("rejects an unknown transaction and another app's transaction with ResourceNotFound", async () => {
    const [owner, otherApp] = [await givenApp(table), await givenApp(table)];
    await givenPaidPurchase(owner, 'ann');
    const expected = { status: 404, body: { code: 'ResourceNotFound' } };
    const unknown = { transactionId: 'store_a:2' };
    expect(await callWithSecretKey(getTransaction, owner, { params: unknown })).toMatchObject(expected);
    expect(await callWithSecretKey(getTransaction, otherApp, { params })).toMatchObject(expected);
  });

  it('rejects the public key', async () => {
    const response = await callWithPublicKey(getTransaction, await givenApp(table), { params });
    expect(response).toMatchObject({ status: 403, body: { code: 'Forbidden' } });
  });
});
