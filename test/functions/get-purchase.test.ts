import { describe, expect, it } from '@jest/globals';
import { getService } from '../../lib/foundation/get-service.ts';
import { dayMs } from '../../lib/foundation/time.ts';
import { getPurchase, getRefreshToken } from '../../lib/purchases/contract.ts';
import { getTransaction, listTransactions } from '../../lib/purchases/transaction-contract.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createObservation, createTransaction, createUniqueName } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { givenPurchase } from '../../testing/given-purchase.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { givenPaidPurchase, paidAt } from './purchase-fixture.ts';

const service = startBeforeAll(startTestService);

/** Validates a subscription of Google Play. */
async function validatePurchase() {
  const keys = await service.createApp(['store_b']);
  const applicationUsername = createUniqueName('user');
  const order = { platform: 'store_b', productId: 'premium', type: 'paid subscription', applicationUsername };
  const { id, validate } = await service.callControl('/purchases', order);
  expect((await service.validate(keys, validate)).body.ok).toBe(true);
  return { keys, purchaseToken: id as string, purchaseId: `store_b:${id}` };
}

describe('GET /v3/purchases/:purchaseId/refresh_token', () => {
  it('returns the token with which the service queries the store, decrypted', async () => {
    const { keys, purchaseToken, purchaseId } = await validatePurchase();
    const { status, body } = await callWithSecretKey(getRefreshToken, keys, { params: { purchaseId } });
    expect({ status, purchaseId: body.purchaseId }).toEqual({ status: 200, purchaseId });
    expect(Object.values(body.refreshToken)).toContain(purchaseToken);
  });

  it('returns the time of the latest refresh', async () => {
    const { keys, purchaseId } = await validatePurchase();
    const fetchLatestRefresh = async () =>
      (await callWithSecretKey(getRefreshToken, keys, { params: { purchaseId } })).body.latestRefresh;
    expect(await fetchLatestRefresh()).toBeUndefined();
    await refreshPurchase(getService(), { appName: keys.appName, purchaseId });
    expect(await fetchLatestRefresh()).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });

  it('returns no token if the store cannot be queried again', async () => {
    const keys = await givenApp(getService().table);
    await givenPaidPurchase(keys, 'ann');
    const { status, body } = await callWithSecretKey(getRefreshToken, keys, { params: { purchaseId: 'store_a:1' } });
    expect({ status, body }).toEqual({ status: 200, body: { purchaseId: 'store_a:1' } });
  });
});

const params = { purchaseId: 'store_a:1' };

describe('GET /v3/purchases/:purchaseId', () => {
  it('returns the purchase with its entitled users', async () => {
    const keys = await givenApp(getService().table);
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

  it('finds the purchase by its brand id', async () => {
    const keys = await givenApp(getService().table);
    await givenPaidPurchase(keys, 'ann');
    const { body } = await callWithSecretKey(getPurchase, keys, { params: { purchaseId: 'apple:1' } });
    expect(body).toMatchObject({ purchaseId: 'store_a:1' });
  });
});

describe('GET /v3/transactions/:transactionId', () => {
  it.each(['store_a:1', 'apple:1'])('returns the transaction %s', async (transactionId) => {
    const keys = await givenApp(getService().table);
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
    const keys = await givenApp(getService().table);
    await givenPaidPurchase(keys, 'ann');
    const { body } = await callWithSecretKey(getTransaction, keys, { params: { transactionId: 'store_a:1' } });
    expect(body).toMatchObject({ renewalIntent: 'Renew' });
  });
});

describe('GET /v3/transactions', () => {
  it('returns the transactions whose purchase date is in the range, the end excluded', async () => {
    const keys = await givenApp(getService().table);
    await givenPaidPurchase(keys, 'ann');
    const list = async (query: Record<string, string>) =>
      (await callWithSecretKey(listTransactions, keys, { query })).body.rows;
    const purchaseDate = new Date(paidAt).toISOString();
    expect(await list({ startdate: purchaseDate })).toMatchObject([{ transactionId: 'store_a:1', amountUSD: 4.99 }]);
    expect(await list({ enddate: purchaseDate })).toEqual([]);
  });

  it('returns only the transactions of the purchase in purchaseId, in the range, oldest first', async () => {
    const keys = await givenApp(getService().table);
    for (const id of ['store_a:1', 'store_a:2']) {
      const observation = createObservation({ purchaseId: id, transactionId: id, purchaseDate: paidAt });
      const renewals = [2, 1, 0].map((day) =>
        createTransaction(observation.purchase, {
          transactionId: `${id}-${day}`,
          purchaseDate: paidAt + day * dayMs,
        }),
      );
      await givenPurchase(keys.appName, 'ann', { ...observation, transactions: renewals });
    }
    const list = async (query: Record<string, string>, app = keys) => {
      const { body } = await callWithSecretKey(listTransactions, app, { query });
      return { ids: body.rows.map(({ transactionId }: { transactionId: string }) => transactionId), ...body.paging };
    };
    const ids = ['store_a:1-0', 'store_a:1-1', 'store_a:1-2'];
    const purchaseId = 'store_a:1';
    expect(await list({ purchaseId })).toEqual({ ids, skip: 0, limit: 100, total: 3 });
    // An id in the vocabulary of the brands.
    expect((await list({ purchaseId: 'apple:1' })).ids).toEqual(ids);
    expect(await list({ purchaseId, skip: '1', limit: '1' })).toEqual({
      skip: 1,
      limit: 1,
      total: 3,
      ids: ids.slice(1, 2),
    });
    const [startdate, enddate] = [dayMs, 2 * dayMs].map((ms) => new Date(paidAt + ms).toISOString());
    expect((await list({ purchaseId, startdate: startdate ?? '', enddate: enddate ?? '' })).ids).toEqual(
      ids.slice(1, 2),
    );
    expect((await list({ purchaseId: 'store_a:9' })).ids).toEqual([]);
    expect((await list({ purchaseId }, await givenApp(getService().table))).ids).toEqual([]);
  });
});
