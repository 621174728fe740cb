import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getEventRaw } from '../../lib/events/contract.ts';
import { getService } from '../../lib/foundation/container.ts';
import { listPurchases } from '../../lib/purchases/contract.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { findEvents } from './event-fixture.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

/** Validates a subscription of Google Play. */
async function givenSubscription() {
  const keys = await service.createApp(['store_b']);
  const order = { platform: 'store_b', productId: createUniqueName('product'), type: 'paid subscription' };
  const { id, validate } = await service.callControl('/purchases', order);
  expect((await service.validate(keys, validate)).body.ok).toBe(true);
  return { keys, purchaseId: `store_b:${id}` };
}

describe('the event of a refresh', () => {
  it('shows the purchase in its raw view', async () => {
    const { keys, purchaseId } = await givenSubscription();
    await refreshPurchase(getService(), { appName: keys.appName, purchaseId });
    const [{ eventId }] = await findEvents(keys, purchaseId);
    const { body } = await callWithSecretKey(getEventRaw, keys, { params: { id: eventId } });
    expect(body).toMatchObject({ type: 'receipt.refreshed', request: { route: 'refresh', params: { purchaseId } } });
    expect(JSON.stringify(body.request)).not.toContain('[removed]');
  });
});

describe('GET /v3/purchases', () => {
  it('reports whether the store can be queried for a purchase again', async () => {
    const { keys } = await givenSubscription();
    const { body } = await callWithSecretKey(listPurchases, keys, {});
    expect(body.rows).toMatchObject([{ canRefresh: true }]);
  });
});
