import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, test } from '@jest/globals';
import braintree from 'braintree';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import Stripe from 'stripe';
import { type EmulatorClient, startEmulatorClient } from './emulator-client.ts';
import {
  type NotificationReceiver,
  type ReceivedNotification,
  respondWithStatus,
  startReceiver,
} from './notification-receiver.ts';

let folder: string;
let stateFile: string;
let user: EmulatorClient;
let receiver: NotificationReceiver;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'emulator-'));
  stateFile = join(folder, 'state.json');
  user = await startEmulatorClient({ stateFile });
  receiver = await startReceiver();
});
afterEach(async () => {
  receiver.close();
  await user.close();
  await rm(folder, { recursive: true });
});

const { webhooks } = new Stripe('sk_test_of_nobody');

/** What the official client of the store makes of what arrived, once it believes it. */
const believed: Readonly<Record<string, (received: ReceivedNotification) => Promise<unknown>>> = {
  store_b: async ({ headers, body }) => {
    const { pushAudience, pushServiceAccount } = user.settings('store_b');
    const keys = createRemoteJWKSet(new URL(`${user.url}/www.googleapis.com/oauth2/v3/certs`));
    const token = (headers.authorization ?? '').replace('Bearer ', '');
    const { payload } = await jwtVerify(token, keys, {
      issuer: 'https://accounts.google.com',
      audience: String(pushAudience),
      currentDate: new Date(user.clock.now()),
    });
    expect(payload).toMatchObject({ email: pushServiceAccount, email_verified: true });
    return JSON.parse(body).message.messageId;
  },
  processor_a: async (received) => eventIn(received, 'processor_a').id,
  service_processor_a: async (received) => eventIn(received, 'service_processor_a').id,
  processor_b: async ({ body }) => {
    const { merchantId = '', publicKey = '', privateKey = '' } = user.settings('processor_b') as Record<string, string>;
    const environment = braintree.Environment.Sandbox;
    const gateway = new braintree.BraintreeGateway({ environment, merchantId, publicKey, privateKey });
    const form = new URLSearchParams(body);
    const { kind } = await gateway.webhookNotification.parse(
      form.get('bt_signature') ?? '',
      form.get('bt_payload') ?? '',
    );
    return kind;
  },
};

function eventIn({ headers, body }: ReceivedNotification, platform: string): Stripe.Event {
  const [secret = ''] = user.settings(platform).webhookSecrets as string[];
  return webhooks.constructEvent(body, headers['stripe-signature'] ?? '', secret, 300, undefined, user.clock.now());
}

/** Has the store post one notification. */
const occasions: Readonly<Record<string, () => Promise<unknown>>> = {
  store_b: () => user.buy({ platform: 'store_b', productId: 'coins', type: 'consumable' }),
  processor_a: () => actAfterBuying('processor_a'),
  service_processor_a: () => actAfterBuying('service_processor_a'),
  processor_b: async () => {
    const { merchantId, publicKey, privateKey } = user.settings('processor_b');
    const { id } = (await user.buy({ platform: 'processor_b', productId: 'tip_jar', type: 'consumable' })).body;
    await user.call(`/api.sandbox.braintreegateway.com/merchants/${merchantId}/transactions`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${publicKey}:${privateKey}`).toString('base64')}` },
      body: JSON.stringify({ transaction: { type: 'sale', amount: '4.99', payment_method_nonce: id } }),
    });
    await user.act(id, 'test-notification');
  },
};

async function actAfterBuying(platform: string): Promise<void> {
  user.setNotificationUrl(platform, 'http://127.0.0.1:9/');
  const { id } = (await user.buy({ platform, productId: 'plan' })).body;
  user.setNotificationUrl(platform, receiver.url);
  await user.act(id, 'cancel');
}

const platforms = Object.keys(occasions);

test.each(platforms)('%s is believed by its official client', async (platform) => {
  user.setNotificationUrl(platform, receiver.url);
  await occasions[platform]?.();
  const [received] = await receiver.waitForCount(1);
  expect(received && (await believed[platform]?.(received))).toEqual(expect.any(String));
});

test.each(platforms)('%s posts the same again after an error, also over a restart', async (platform) => {
  receiver.respondWith(respondWithStatus(503));
  user.setNotificationUrl(platform, receiver.url);
  await occasions[platform]?.();
  const [first] = await receiver.waitForCount(1);
  if (first === undefined) throw new Error('Nothing arrived');
  const known = await believed[platform]?.(first);
  const now = user.clock.now();
  await user.close();
  user = await startEmulatorClient({ stateFile });
  user.clock.set(now);
  receiver.respondWith(respondWithStatus(200));
  await user.advance('PT1H');
  const again = (await receiver.waitForCount(2))[1];
  if (again === undefined) throw new Error('Nothing arrived again');
  expect(again.body).toBe(first.body);
  expect(await believed[platform]?.(again)).toBe(known);
});

it('posts nothing where nobody asked for it', async () => {
  user.setNotificationUrl('processor_a', receiver.url);
  await user.buy({ platform: 'service_processor_a', productId: 'plan' });
  await user.buy({ platform: 'processor_a', productId: 'coins', type: 'consumable' });
  const received = await receiver.waitForCount(4);
  expect(received.map((one) => eventIn(one, 'processor_a').livemode)).toEqual([true, true, true, true]);
});
