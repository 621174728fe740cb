import { beforeEach, describe, expect, it } from '@jest/globals';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
import { getDelivery, getForwards, listDeliveries, setForwards } from '../../lib/webhooks/contract.ts';
import { startApplicationServer } from '../../testing/application-server.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startNotificationServer } from '../../testing/notification-server.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { startWorkQueues } from '../../testing/work-queues.ts';

const service = startBeforeAll(startTestService);
const queues = startBeforeAll(startWorkQueues);
const notifications = startBeforeAll(startNotificationServer);
const server = startBeforeAll(startApplicationServer);
let keys: IssuedApiKeys;
beforeEach(async () => {
  keys = await service.createApp(['store_a']);
  server.requests.length = 0;
});

const buy = async () =>
  await service.callControl('/purchases', {
    platform: 'store_a',
    productId: 'premium',
    type: 'paid subscription',
    applicationUsername: createUniqueName('user'),
  });

describe('PUT /v3/forwards', () => {
  it('replaces the forwards, with brand names of stores, and GET returns them', async () => {
    const body = [{ url: 'https://example.com/a', platforms: ['apple'] }, { url: 'https://example.com/b' }];
    const expected = [{ url: 'https://example.com/a', platforms: ['store_a'] }, { url: 'https://example.com/b' }];
    expect(await callWithSecretKey(setForwards, keys, { body })).toMatchObject({ status: 200, body: expected });
    expect((await callWithSecretKey(getForwards, keys)).body).toEqual(expected);
    expect((await callWithSecretKey(setForwards, keys, { body: [] })).body).toEqual([]);
    expect((await callWithSecretKey(getForwards, keys)).body).toEqual([]);
  });
});

describe('receiveNotification with forwards', () => {
  it('forwards a notification unchanged, lists it with its attempt and records it', async () => {
    await callWithSecretKey(setForwards, keys, { body: [{ url: `${server.url}/forward`, platforms: ['store_a'] }] });
    await service.setNotificationUrl('store_a', `${notifications.url}/v3/webhook/apple/${keys.appName}`);
    const { id } = await buy();
    await service.waitUntilNotified();
    await service.setNotificationUrl('store_a', null);
    await queues.drain();
    const [{ body, headers } = { body: '', headers: {} }] = server.requests;
    expect(JSON.parse(body)).toEqual({ signedPayload: expect.stringMatching(/^eyJ/) });
    expect(headers).toMatchObject({ 'content-type': expect.stringContaining('application/json') });
    const purchase = await callWithSecretKey(getPurchase, keys, { params: { purchaseId: `store_a:${id}` } });
    expect(purchase.status).toBe(200);
    const { rows: deliveries } = (await callWithSecretKey(listDeliveries, keys)).body;
    expect(deliveries).toMatchObject([{ type: 'forward', state: 'delivered' }]);
    const detail = await callWithSecretKey(getDelivery, keys, { params: { id: deliveries[0].deliveryId } });
    expect(detail.body.attempts).toMatchObject([{ ok: true, status: 200 }]);
    expect(JSON.stringify(detail.body)).not.toContain('eyJ');
  });

  it('accepts a notification that another server forwards, because the store has signed it', async () => {
    const other = await service.createApp(['store_a']);
    await callWithSecretKey(setForwards, keys, {
      body: [{ url: `${notifications.url}/v3/webhook/apple/${other.appName}` }],
    });
    await service.setNotificationUrl('store_a', `${notifications.url}/v3/webhook/apple/${keys.appName}`);
    const { id } = await buy();
    await service.waitUntilNotified();
    await service.setNotificationUrl('store_a', null);
    await queues.drain();
    const purchase = await callWithSecretKey(getPurchase, other, { params: { purchaseId: `store_a:${id}` } });
    expect(purchase.status).toBe(200);
  });
});
