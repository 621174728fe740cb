import { beforeAll, describe, expect, it } from '@jest/globals';
import { getCustomerTransactions } from '../../lib/customers/contract.ts';
import type { Table } from '../../lib/foundation/table.ts';
import { dayMs } from '../../lib/foundation/time.ts';
import { callWithPublicKey, callWithSecretKey } from '../../testing/call.ts';
import { createObservation, createTransaction } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { givenPurchase } from '../../testing/given-purchase.ts';
import { createTestTable } from '../../testing/table.ts';
import { paidAt } from './purchase-fixture.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
});

const params = { applicationUsername: 'ann' };

describe('GET /v3/customers/:applicationUsername/transactions', () => {
  it("returns the transactions of the customer's purchases, latest first", async () => {
    const keys = await givenApp(table);
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

  it('returns no transactions for an unknown customer', async () => {
    const { status, body } = await callWithSecretKey(getCustomerTransactions, await givenApp(table), { params });
    expect({ status, body }).toEqual({ status: 200, body: { applicationUsername: 'ann', transactions: [] } });
  });

  it('rejects the public key', async () => {
    const response = await callWithPublicKey(getCustomerTransactions, await givenApp(table), { params });
    expect(response).toMatchObject({ status: 403, body: { code: 'Forbidden' } });
  });
});
