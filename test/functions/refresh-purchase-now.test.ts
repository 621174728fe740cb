import { afterEach, describe, expect, it } from '@jest/globals';
import { findRawEvent } from '../../lib/events/event-table.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import { getPurchase, refreshPurchase } from '../../lib/purchases/contract.ts';
import { findPurchaseForChange } from '../../lib/purchases/purchase-table.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { findEvents } from './event-fixture.ts';
import { givenPaidPurchase } from './purchase-fixture.ts';

const service = startBeforeAll(startTestService);
afterEach(async () => await service.clearFaults());

async function validateSubscription(platform: Platform) {
  const keys = await service.createApp([platform]);
  const applicationUsername = createUniqueName('user');
  const order = { platform, productId: 'premium', type: 'paid subscription', applicationUsername, autoRenew: true };
  const { id, validate } = await service.callControl('/purchases', order);
  expect((await service.validate(keys, validate)).body.ok).toBe(true);
  const purchaseId = `${platform}:${id}`;
  return {
    keys,
    purchaseId,
    applicationUsername,
    act: async (action: string) => await service.callControl(`/purchases/${id}/${action}`, {}),
    refresh: async () => await callWithSecretKey(refreshPurchase, keys, { params: { purchaseId } }),
    read: async () => (await callWithSecretKey(getPurchase, keys, { params: { purchaseId } })).body,
  };
}

describe('POST /v3/purchases/:purchaseId/refresh', () => {
  it.each(['store_a', 'store_b'] as const)('returns the current state of the store: %s', async (platform) => {
    const { act, refresh, read, applicationUsername } = await validateSubscription(platform);
    await act('cancel');
    expect(await read()).toMatchObject({ renewalIntent: 'Renew' });
    const { status, body } = await refresh();
    expect(status).toBe(200);
    expect(body).toMatchObject({ renewalIntent: 'Lapse', entitledUsers: [applicationUsername] });
    expect(await read()).toEqual(body);
  });

  it('records one event of the purchase, with the request to the store and without the refresh token', async () => {
    const { keys, purchaseId, refresh, act } = await validateSubscription('store_b');
    await act('cancel');
    await refresh();
    const [event] = await findEvents(keys, purchaseId);
    expect(event).toMatchObject({ type: '_P', context: { eventType: 'receipt.refreshed', key: { level: 'secret' } } });
    expect(event.content.notifications).toContainEqual({ reason: 'WILL_LAPSE', purchaseId });
    expect(await findRawEvent(getService(), keys.appName, event.eventId)).toMatchObject({
      externalRequests: expect.arrayContaining([expect.objectContaining({ response: expect.anything() })]),
    });
  });

  it('leaves the purchase and its schedule as they are if the store is unavailable', async () => {
    const { keys, purchaseId, refresh, read } = await validateSubscription('store_b');
    const before = await read();
    const stored = await findPurchaseForChange(getService(), keys.appName, purchaseId);
    await service.callControl('/faults', { platform: 'store_b', fault: 'down', times: 30 });
    expect(await refresh()).toMatchObject({ status: 502, body: { ok: false, code: 'ConnectionFailed' } });
    await service.clearFaults();
    expect(await read()).toEqual(before);
    expect((await findPurchaseForChange(getService(), keys.appName, purchaseId))?.version).toBe(stored?.version);
  });

  it('rejects a purchase that the store cannot be queried for', async () => {
    const keys = await givenApp(getService().table);
    await givenPaidPurchase(keys, 'ann');
    const response = await callWithSecretKey(refreshPurchase, keys, { params: { purchaseId: 'store_a:1' } });
    expect(response).toMatchObject({ status: 400, body: { code: 'InvalidPayload' } });
    expect(response.body.message).toContain('cannot be refreshed');
  });
});
