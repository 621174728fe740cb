import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import Stripe from 'stripe';
import { listEvents } from '../../lib/api/events.ts';
import { getPurchase } from '../../lib/api/purchases.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import type { Platform } from '../../lib/shared/platform.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { type NotificationServer, startNotificationServer } from '../../testing/notification-server.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { startWorkQueues, type WorkQueues } from '../../testing/work-queues.ts';

let service: TestService;
let queues: WorkQueues;
let hooks: NotificationServer;

beforeAll(async () => {
  service = await startTestService();
  queues = await startWorkQueues();
  hooks = await startNotificationServer();
});
afterAll(async () => {
  await hooks.close();
  await queues.close();
  await service.close();
});

/** An application that hears of its purchases on a platform. */
async function listening(platform: Platform): Promise<IssuedApiKeys> {
  const keys = await service.createApp([platform]);
  await put(`/notifications/${platform}`, { url: `${hooks.url}/v3/webhook/${platform}/${keys.appName}` });
  return keys;
}

const put = async (path: string, body: object): Promise<void> => {
  await fetch(`${service.emulatorUrl}/control${path}`, { method: 'PUT', body: JSON.stringify(body) });
};

interface Posting {
  readonly state: string;
  readonly attempts: readonly { readonly status?: number }[];
}

/** Waits until the emulated stores have posted all that they have to post now, then works the queues off. */
async function settle(): Promise<void> {
  for (;;) {
    const { notifications } = (await service.callControl('/notifications')) as { notifications: readonly Posting[] };
    if (!notifications.some(({ state, attempts }) => state === 'waiting' && attempts.length === 0)) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await queues.drain();
}

async function stored({ appName, secretKey }: IssuedApiKeys, purchaseId: string) {
  const query = { include_notifications: 'true' };
  const { body } = await callEndpoint(getPurchase, {
    headers: buildBasicAuth(appName, secretKey),
    params: { purchaseId },
    query,
  });
  return body;
}

const reasonsOf = (purchase: { notifications: { reason: string }[] }) =>
  purchase.notifications.map(({ reason }) => reason);

const sells: Readonly<Partial<Record<Platform, string>>> = {
  store_a: 'premium',
  store_b: 'premium',
  processor_a: 'basic',
  service_processor_a: 'basic',
  processor_b: 'monthly',
};

/** A subscription of a user whom the service knows, validated, and the actions on it. */
async function subscription(platform: Platform) {
  const keys = await listening(platform);
  const order = {
    platform,
    productId: sells[platform],
    type: 'paid subscription',
    applicationUsername: createUniqueName('user'),
  };
  const { id, validate } = await service.callControl('/purchases', order);
  const { body } = await service.validate(keys, validate);
  if (!body.ok) throw new Error(body.message);
  await settle();
  const purchaseId = `${platform}:${body.data.collection[0].purchaseId}`;
  return {
    keys,
    user: order.applicationUsername,
    purchaseId,
    state: async () => await stored(keys, purchaseId),
    act: async (action: string, details: object = {}) => {
      const { id: shown } = await service.callControl(`/purchases/${id}/${action}`, details);
      await settle();
      return await stored(keys, shown === id ? purchaseId : `${platform}:${shown}`);
    },
  };
}

describe.each(Object.entries(sells))('notifications of %s', (name, productId) => {
  const platform = name as Platform;

  it('tell of a purchase before any client does, and leave it to the user who validates it', async () => {
    const keys = await listening(platform);
    const order = { platform, productId, type: 'paid subscription', applicationUsername: 'ann' };
    const { validate } = await service.callControl('/purchases', order);
    await settle();
    const { body } = await service.validate(keys, validate);
    expect(body.ok).toBe(true);
    const purchase = await stored(keys, `${platform}:${body.data.collection[0].purchaseId}`);
    expect(purchase).toMatchObject({ entitledUsers: ['ann'], isExpired: false });
    expect(reasonsOf(purchase)).toEqual(['PURCHASED']);
  });

  it('are taken in once, however often they come', async () => {
    await service.callControl('/notifications', { times: 3, next: 20 });
    const { act } = await subscription(platform);
    expect(reasonsOf(await act('renew'))).toEqual(['PURCHASED', 'RENEWED']);
    await fetch(`${service.emulatorUrl}/control/notifications`, { method: 'DELETE' });
  });
});

const tellings: readonly (readonly [Platform, string, readonly unknown[], object])[] = [
  ['store_a', 'renew', ['RENEWED'], { isExpired: false }],
  ['store_a', 'cancel', ['WILL_LAPSE'], { renewalIntent: 'Lapse', isExpired: false }],
  ['store_a', 'cancel uncancel', ['WILL_LAPSE', 'WILL_AUTO_RENEW'], { renewalIntent: 'Renew' }],
  ['store_a', 'fail-payment', ['ENTERED_GRACE_PERIOD'], { isBillingRetryPeriod: true }],
  ['store_a', 'fail-payment recover', ['ENTERED_GRACE_PERIOD', 'RENEWED'], { isBillingRetryPeriod: false }],
  ['store_a', 'expire', ['EXPIRED'], { isExpired: true }],
  ['store_a', 'refund', ['REFUNDED'], { isExpired: true }],
  ['store_a', 'revoke', ['REVOKED'], { isExpired: true }],
  ['store_a', 'extend', ['EXTENDED'], { isExpired: false }],
  ['store_a', 'raise-price', ['PRICE_CHANGE_UPDATED'], { priceConsentStatus: 'Notified' }],
  ['store_a', 'raise-price accept-price', ['PRICE_CHANGE_UPDATED', 'PRICE_CHANGE_CONFIRMED'], {}],
  ['store_b', 'renew', ['RENEWED'], { isExpired: false }],
  ['store_b', 'cancel', ['WILL_LAPSE'], { renewalIntent: 'Lapse', isExpired: false }],
  ['store_b', 'cancel uncancel', ['WILL_LAPSE', 'WILL_AUTO_RENEW'], { renewalIntent: 'Renew' }],
  ['store_b', 'fail-payment', ['ENTERED_GRACE_PERIOD'], { isBillingRetryPeriod: true }],
  ['store_b', 'fail-payment recover', ['ENTERED_GRACE_PERIOD', 'RENEWED'], {}],
  ['store_b', 'expire', ['EXPIRED'], { isExpired: true }],
  // A refund that leaves the access is not pushed; looking at the order shows it.
  ['store_b', 'refund', [], { isExpired: false }],
  // Three messages tell of it, in any order.
  ['store_b', 'revoke', ['REVOKED'], { isExpired: true }],
  ['store_b', 'pause', ['PAUSED'], { isPaused: true, isExpired: true, cancelationReason: 'PAUSED' }],
  ['store_b', 'pause resume', ['PAUSED', 'RENEWED'], { isExpired: false }],
  ['processor_a', 'renew', ['RENEWED'], { isExpired: false }],
  ['processor_a', 'cancel', ['WILL_LAPSE'], { renewalIntent: 'Lapse', isExpired: false }],
  ['processor_a', 'cancel uncancel', ['WILL_LAPSE', 'WILL_AUTO_RENEW'], { renewalIntent: 'Renew' }],
  ['processor_a', 'fail-payment', ['ENTERED_GRACE_PERIOD'], { isBillingRetryPeriod: true }],
  ['processor_a', 'fail-payment recover', ['ENTERED_GRACE_PERIOD', 'RENEWED'], {}],
  // A renewal before its time is dated by its period; what is paid after it is for a later one.
  ['processor_a', 'renew fail-payment recover', ['RENEWED', 'ENTERED_GRACE_PERIOD', 'RENEWED'], {}],
  ['processor_a', 'expire', ['EXPIRED'], { isExpired: true }],
  ['processor_a', 'pause', ['PAUSED'], { isPaused: true }],
  ['processor_a', 'pause resume', ['PAUSED', 'RENEWED'], { isExpired: false }],
  ['processor_a', 'refund', ['REFUNDED'], { isExpired: true }],
  ['processor_a', 'revoke', ['REVOKED'], { isExpired: true }],
  ['service_processor_a', 'cancel', ['WILL_LAPSE'], { renewalIntent: 'Lapse' }],
  ['processor_b', 'renew', ['RENEWED'], { isExpired: false }],
  ['processor_b', 'cancel', ['WILL_LAPSE'], { renewalIntent: 'Lapse' }],
  ['processor_b', 'fail-payment', ['ENTERED_GRACE_PERIOD'], { isBillingRetryPeriod: true }],
  ['processor_b', 'fail-payment recover', ['ENTERED_GRACE_PERIOD', 'RENEWED'], {}],
  ['processor_b', 'expire', ['EXPIRED'], { isExpired: true }],
  ['processor_b', 'revoke', ['REFUNDED'], { isExpired: true }],
];

it.each(tellings)('%s: %s is told as %j', async (platform, actions, reasons, fields) => {
  const { act } = await subscription(platform);
  let purchase: Awaited<ReturnType<typeof act>>;
  for (const action of actions.split(' ')) purchase = await act(action);
  expect(reasonsOf(purchase).filter((reason) => reason !== 'PURCHASED')).toEqual(reasons);
  expect(purchase).toMatchObject(fields);
});

const hookTokens = ['apple', 'google', 'stripe', 'braintree'];

describe('a notification', () => {
  const post = async (path: string, body: string, headers = {}) =>
    await fetch(`${hooks.url}${path}`, { method: 'POST', body, headers });

  it('that the store did not send is refused, and so is one for an application that does not exist', async () => {
    const { appName } = await service.createApp(['store_a', 'store_b', 'processor_a', 'processor_b']);
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

  it.each(hookTokens)('to %s is refused alike, whether or not there is such an application', async (token) => {
    const answerTo = async (appName: string) => {
      const response = await post(`/v3/webhook/${token}/${appName}`, '{}', { 'stripe-signature': 't=1,v1=0' });
      return [response.status, await response.text()];
    };
    const refusal = await answerTo('nobody');
    expect(refusal[0]).toBe(403);
    expect(await answerTo((await service.createApp([])).appName)).toEqual(refusal);
    expect(
      await answerTo((await service.createApp(['store_a', 'store_b', 'processor_a', 'processor_b'])).appName),
    ).toEqual(refusal);
  });

  it('that is signed and dated as no date can be is taken, and becomes an event that says so', async () => {
    const keys = await service.createApp(['processor_a']);
    const { webhookSecrets } = (await service.callControl('/settings/processor_a')) as { webhookSecrets: string[] };
    const payload = JSON.stringify({ id: 'evt_1', type: 'x', created: 1e300, data: { object: {} } });
    const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret: webhookSecrets[0] ?? '' });
    const response = await post(`/v3/webhook/stripe/${keys.appName}`, payload, { 'stripe-signature': signature });
    expect(response.status).toBe(200);
    const { body } = await callEndpoint(listEvents, { headers: buildBasicAuth(keys.appName, keys.secretKey) });
    expect(body.rows).toMatchObject([{ content: { tags: { error: '_X' } } }]);
    await queues.drain();
  });

  it('meant for another application is refused', async () => {
    const [one, other] = [
      await listening('store_a'),
      await service.createApp(['store_a'], { bundleId: 'com.other.app' }),
    ];
    expect(one.appName).not.toBe(other.appName);
    await put('/notifications/store_a', { url: `${hooks.url}/v3/webhook/store_a/${other.appName}` });
    const order = { platform: 'store_a', productId: 'premium', type: 'paid subscription' };
    const { id } = await service.callControl('/purchases', order);
    await settle();
    expect((await stored(other, `store_a:${id}`)).status).toBe(404);
  });

  it.each([
    ['store_a', '/v1/webhook/apple'],
    ['store_b', '/v3/webhook/google'],
  ] as const)('of %s comes to an application that is named in the query, too', async (platform, path) => {
    const keys = await service.createApp([platform]);
    const query = new URLSearchParams({ appName: keys.appName, apiKey: keys.publicKey });
    await put(`/notifications/${platform}`, { url: `${hooks.url}${path}?${query}` });
    const order = { platform, productId: 'premium', type: 'paid subscription' };
    const { id } = await service.callControl('/purchases', order);
    await settle();
    expect(await stored(keys, `${platform}:${id}`)).toMatchObject({ isExpired: false, entitledUsers: [] });
  });

  it('about a user who is known finds that user at once', async () => {
    const { keys, user } = await subscription('store_a');
    const order = { platform: 'store_a', productId: 'coins', type: 'consumable', applicationUsername: user };
    const { id } = await service.callControl('/purchases', order);
    await settle();
    expect(await stored(keys, `store_a:${id}`)).toMatchObject({ entitledUsers: [user] });
  });

  it('about a user who is not known yet finds that user when another purchase is validated', async () => {
    const keys = await listening('store_a');
    const user = createUniqueName('user');
    const order = { platform: 'store_a', type: 'paid subscription', applicationUsername: user };
    const { id } = await service.callControl('/purchases', { ...order, productId: 'premium' });
    await settle();
    expect(await stored(keys, `store_a:${id}`)).toMatchObject({ entitledUsers: [] });
    await put('/notifications/store_a', { url: null });
    const other = await service.callControl('/purchases', {
      ...order,
      productId: 'coins',
      type: 'consumable',
      form: 'signed',
    });
    await service.validate(keys, other.validate);
    expect(await stored(keys, `store_a:${id}`)).toMatchObject({ entitledUsers: [user] });
  });

  it('waits for a store that cannot be asked, and is then taken in', async () => {
    const { purchaseId, state } = await subscription('processor_a');
    await service.callControl('/faults', { platform: 'processor_a', fault: 'down', times: 50 });
    await service.callControl(`/purchases/${purchaseId.slice('processor_a:'.length)}/cancel`, {});
    await settle();
    expect(await state()).toMatchObject({ renewalIntent: 'Renew' });
    await service.clearFaults();
    for (let look = 0; look < 40 && (await state()).renewalIntent !== 'Lapse'; look++) {
      await new Promise((resolve) => setTimeout(resolve, 250));
      await queues.drain();
    }
    expect(await state()).toMatchObject({ renewalIntent: 'Lapse' });
  });
});
