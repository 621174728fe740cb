import { describe, expect, it } from '@jest/globals';
import Stripe from 'stripe';
import { parseEventDate } from '../../lib/foundation/event-id.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import { receiveNotification } from '../../lib/store-notifications/receive-notification.ts';
import { createUniqueName } from '../../testing/given.ts';
import { buildProxyEvent } from '../../testing/proxy-event.ts';
import { sampleItems } from '../../testing/sample.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { waitFor } from '../../testing/wait-for.ts';
import { fetchEventList } from './event-fixture.ts';
import { listReasons, notifyingPlatforms, startNotificationFixture } from './notification-fixture.ts';

const fixture = startBeforeAll(startNotificationFixture);

const subscriptionOrder = { productId: 'premium', type: 'paid subscription' };
const allPlatforms: readonly Platform[] = ['store_a', 'store_b', 'processor_a', 'processor_b'];

const post = async (path: string, body: string, headers = {}) =>
  await fetch(`${fixture.server.url}${path}`, { method: 'POST', body, headers });

/** Builds a notification of Stripe with a valid signature and an invalid date. */
async function buildUndatedNotification() {
  const { webhookSecrets } = (await fixture.callControl('/settings/processor_a')) as { webhookSecrets: string[] };
  const payload = JSON.stringify({ id: 'evt_1', type: 'x', created: 1e300, data: { object: {} } });
  const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret: webhookSecrets[0] ?? '' });
  return { body: payload, headers: { 'stripe-signature': signature } };
}

describe.each(sampleItems(Object.entries(notifyingPlatforms), 2))('notification endpoint of %s', (name, productId) => {
  const platform = name as Platform;

  it('records a purchase before its validation, and the validation entitles the customer', async () => {
    const keys = await fixture.createNotifiedApp(platform);
    const order = { platform, productId, type: 'paid subscription', applicationUsername: 'ann' };
    const { validate } = await fixture.callControl('/purchases', order);
    await fixture.processNotifications();
    const { body } = await fixture.validate(keys, validate);
    expect(body.ok).toBe(true);
    const purchase = await fixture.fetchPurchase(keys, `${platform}:${body.data.collection[0].purchaseId}`);
    expect(purchase).toMatchObject({ entitledUsers: ['ann'], isExpired: false });
    expect(listReasons(purchase)).toEqual(['PURCHASED']);
  });

  it('processes a notification once if the store sends it three times', async () => {
    await fixture.callControl('/notifications', { times: 3, next: 20 });
    const { act } = await fixture.givenSubscription(platform);
    expect(listReasons(await act('renew'))).toEqual(['PURCHASED', 'RENEWED']);
    await fetch(`${fixture.emulatorUrl}/control/notifications`, { method: 'DELETE' });
  });
});

describe('POST /v3/webhook/:platform/:appName', () => {
  it('rejects a notification that the store did not sign, and one for an unknown app', async () => {
    const { appName } = await fixture.createApp(allPlatforms);
    for (const [path, body] of [
      [`/v3/webhook/store_a/${appName}`, '{"signedPayload":"a.b.c"}'],
      [`/v3/webhook/apple/${appName}`, 'no json'],
      [`/v3/webhook/store_b/${appName}`, '{"message":{"data":"e30="}}'],
      [`/v3/webhook/processor_a/${appName}`, '{"id":"evt_1"}'],
      [`/v3/webhook/processor_b/${appName}`, 'bt_signature=x&bt_payload=y'],
      ['/v3/webhook/store_a/nobody', '{"signedPayload":"a.b.c"}'],
      ['/v1/webhook/apple?appName=nobody&apiKey=pub_x', '{"signedPayload":"a.b.c"}'],
      ['/v1/webhook/apple', '{"signedPayload":"a.b.c"}'],
    ] as const) {
      expect([401, 403]).toContain((await post(path, body)).status);
    }
  });

  it("rejects a customer's own signed transaction as a notification and records no event", async () => {
    const keys = await fixture.createApp(['store_a']);
    const { validate } = await fixture.callControl('/purchases', { platform: 'store_a', ...subscriptionOrder });
    const { jwsRepresentation: signedPayload } = (validate as { transaction: { jwsRepresentation: string } })
      .transaction;
    const response = await post(`/v3/webhook/apple/${keys.appName}`, JSON.stringify({ signedPayload }));
    expect(response.status).toBe(403);
    expect((await fetchEventList(keys)).body.rows).toEqual([]);
  });

  it.each(['apple', 'google', 'stripe', 'braintree'])(
    'does not reveal whether an app exists or has settings of %s',
    async (token) => {
      const send = async (appName: string) => {
        const response = await post(`/v3/webhook/${token}/${appName}`, '{}', { 'stripe-signature': 't=1,v1=0' });
        return [response.status, await response.text()];
      };
      const rejection = await send('nobody');
      expect(rejection[0]).toBe(403);
      expect(await send((await fixture.createApp([])).appName)).toEqual(rejection);
      expect(await send((await fixture.createApp(allPlatforms)).appName)).toEqual(rejection);
    },
  );

  it('rejects a signed challenge of Braintree as a notification', async () => {
    const keys = await fixture.createApp(['processor_b']);
    const path = `/v3/webhook/processor_b/${keys.appName}`;
    const challenge = '20f9f8ed05f77439fe955c977e4c8a53';
    const signature = await (await fetch(`${fixture.server.url}${path}?bt_challenge=${challenge}`)).text();
    expect(signature).toMatch(/^\w+\|[\da-f]{40}$/);
    const form = new URLSearchParams({ bt_signature: signature, bt_payload: challenge }).toString();
    expect((await post(path, form)).status).toBe(403);
    expect((await fetchEventList(keys)).ids).toEqual([]);
  });

  it('accepts a signed notification with an invalid date and records an error event', async () => {
    const keys = await fixture.createApp(['processor_a']);
    const { body: payload, headers } = await buildUndatedNotification();
    const response = await post(`/v3/webhook/stripe/${keys.appName}`, payload, headers);
    expect(response.status).toBe(200);
    const { body } = await fetchEventList(keys);
    expect(body.rows).toMatchObject([{ content: { tags: { error: '_X' } } }]);
    await fixture.queues.drain();
  });

  it('records the event at the date by which lists sort it', async () => {
    const keys = await fixture.createApp(['processor_a']);
    let time = Date.now();
    const slowService = { ...getService(), now: () => (time += 100) };
    const path = `/v3/webhook/stripe/${keys.appName}`;
    const notification = await buildUndatedNotification();
    await receiveNotification(slowService, buildProxyEvent({ httpMethod: 'POST', path, ...notification }));
    const [{ eventId, context }] = (await fetchEventList(keys)).body.rows;
    expect(context.eventDateMs).toBe(parseEventDate(eventId));
  });

  it('records an event of a test notification of Google Play', async () => {
    const { keys, act } = await fixture.givenSubscription('store_b');
    await act('test-notification');
    const { body } = await fetchEventList(keys);
    expect(body.rows).toContainEqual(
      expect.objectContaining({
        context: expect.objectContaining({ eventType: 'webhook.store_b.called' }),
        content: expect.objectContaining({ notifications: [{ reason: 'TEST', type: 'TEST' }] }),
      }),
    );
  });

  it("rejects a notification of another app's bundle id", async () => {
    const { appName } = await fixture.createNotifiedApp('store_a');
    const otherApp = await fixture.createApp(['store_a'], { bundleId: 'com.other.app' });
    expect(otherApp.appName).not.toBe(appName);
    await fixture.setNotificationUrl('store_a', `${fixture.server.url}/v3/webhook/store_a/${otherApp.appName}`);
    const { id } = await fixture.callControl('/purchases', { platform: 'store_a', ...subscriptionOrder });
    await fixture.processNotifications();
    expect((await fixture.fetchPurchase(otherApp, `store_a:${id}`)).status).toBe(404);
  });

  it.each([
    ['store_a', '/v1/webhook/apple'],
    ['store_b', '/v3/webhook/google'],
  ] as const)('accepts a notification of %s for the app of the query', async (platform, path) => {
    const keys = await fixture.createApp([platform]);
    const query = new URLSearchParams({ appName: keys.appName, apiKey: keys.publicKey });
    await fixture.setNotificationUrl(platform, `${fixture.server.url}${path}?${query}`);
    const { id } = await fixture.callControl('/purchases', { platform, ...subscriptionOrder });
    await fixture.processNotifications();
    expect(await fixture.fetchPurchase(keys, `${platform}:${id}`)).toMatchObject({
      isExpired: false,
      entitledUsers: [],
    });
  });

  it('entitles a customer whose alias is stored', async () => {
    const { keys, username } = await fixture.givenSubscription('store_a');
    const order = { platform: 'store_a', productId: 'coins', type: 'consumable', applicationUsername: username };
    const { id } = await fixture.callControl('/purchases', order);
    await fixture.processNotifications();
    expect(await fixture.fetchPurchase(keys, `store_a:${id}`)).toMatchObject({ entitledUsers: [username] });
  });

  it('entitles a new customer to an unclaimed purchase once another purchase is validated', async () => {
    const keys = await fixture.createNotifiedApp('store_a');
    const applicationUsername = createUniqueName('user');
    const buyer = { platform: 'store_a', applicationUsername };
    const { id } = await fixture.callControl('/purchases', { ...buyer, ...subscriptionOrder });
    await fixture.processNotifications();
    expect(await fixture.fetchPurchase(keys, `store_a:${id}`)).toMatchObject({ entitledUsers: [] });
    await fixture.setNotificationUrl('store_a', null);
    const coins = { productId: 'coins', type: 'consumable', form: 'signed' };
    const { validate } = await fixture.callControl('/purchases', { ...buyer, ...coins });
    await fixture.validate(keys, validate);
    expect(await fixture.fetchPurchase(keys, `store_a:${id}`)).toMatchObject({ entitledUsers: [applicationUsername] });
  });

  it('retries a notification while the store is unavailable', async () => {
    const { keys, purchaseId } = await fixture.givenSubscription('processor_a');
    const fetchRenewalIntent = async () => (await fixture.fetchPurchase(keys, purchaseId)).renewalIntent;
    await fixture.callControl('/faults', { platform: 'processor_a', fault: 'down', times: 50 });
    await fixture.callControl(`/purchases/${purchaseId.slice('processor_a:'.length)}/cancel`, {});
    await fixture.processNotifications();
    expect(await fetchRenewalIntent()).toBe('Renew');
    await fixture.clearFaults();
    const retry = async () => {
      await fixture.queues.drain();
      return await fetchRenewalIntent();
    };
    expect(await waitFor('the retried notification', retry, (intent) => intent === 'Lapse')).toBe('Lapse');
  });
});
