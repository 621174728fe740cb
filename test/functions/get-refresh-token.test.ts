import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getService } from '../../lib/foundation/container.ts';
import { getRefreshToken } from '../../lib/purchases/contract.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { callWithPublicKey, callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { findEvents } from './event-fixture.ts';
import { givenPaidPurchase } from './purchase-fixture.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

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

  it('records the read as an event of the purchase, without the token', async () => {
    const keys = await givenApp(getService().table);
    await givenPaidPurchase(keys, 'ann');
    await callWithSecretKey(getRefreshToken, keys, { params: { purchaseId: 'store_a:1' } });
    const rows = await findEvents(keys, 'store_a:1');
    expect(rows).toMatchObject([{ type: '_P', context: { eventType: 'purchase.read' } }]);
    expect(JSON.stringify(rows)).not.toContain('refreshToken');
  });

  it('rejects an unknown purchase with ResourceNotFound', async () => {
    const keys = await givenApp(getService().table);
    const response = await callWithSecretKey(getRefreshToken, keys, { params: { purchaseId: 'store_a:1' } });
    expect(response).toMatchObject({ status: 404, body: { code: 'ResourceNotFound' } });
  });

  it('rejects the public key', async () => {
    const keys = await givenApp(getService().table);
    const response = await callWithPublicKey(getRefreshToken, keys, { params: { purchaseId: 'store_a:1' } });
    expect(response).toMatchObject({ status: 403, body: { code: 'Forbidden' } });
  });
});
