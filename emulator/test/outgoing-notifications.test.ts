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
  waitUntil,
} from './notification-receiver.ts';

let folder: string;
let stateFile: string;
let client: EmulatorClient;
let receiver: NotificationReceiver;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'emulator-'));
  stateFile = join(folder, 'state.json');
  client = await startEmulatorClient({ stateFile });
  receiver = await startReceiver();
});
afterEach(async () => {
  receiver.close();
  await client.close();
  await rm(folder, { recursive: true });
});

const { webhooks } = new Stripe('sk_test_unused');

/** Verifies a notification with the store's official client and returns its id. */
const verifiers: Readonly<Record<string, (received: ReceivedNotification) => Promise<unknown>>> = {
  store_b: async ({ headers, body }) => {
    const { pushAudience, pushServiceAccount } = client.settings('store_b');
    const keys = createRemoteJWKSet(new URL(`${client.url}/www.googleapis.com/oauth2/v3/certs`));
    const token = (headers.authorization ?? '').replace('Bearer ', '');
    const { payload } = await jwtVerify(token, keys, {
      issuer: 'https://accounts.google.com',
      audience: String(pushAudience),
      currentDate: new Date(client.clock.now()),
    });
    expect(payload).toMatchObject({ email: pushServiceAccount, email_verified: true });
    return JSON.parse(body).message.messageId;
  },
  processor_a: async (received) => parseEvent(received, 'processor_a').id,
  service_processor_a: async (received) => parseEvent(received, 'service_processor_a').id,
  processor_b: async ({ body }) => {
    const {
      merchantId = '',
      publicKey = '',
      privateKey = '',
    } = client.settings('processor_b') as Record<string, string>;
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

function parseEvent({ headers, body }: ReceivedNotification, platform: string): Stripe.Event {
  const [secret = ''] = client.settings(platform).webhookSecrets as string[];
  return webhooks.constructEvent(body, headers['stripe-signature'] ?? '', secret, 300, undefined, client.clock.now());
}

/** Triggers one notification of the store. */
const triggers: Readonly<Record<string, () => Promise<unknown>>> = {
  store_b: () => client.buy({ platform: 'store_b', productId: 'coins', type: 'consumable' }),
  processor_a: () => actAfterBuying('processor_a'),
  service_processor_a: () => actAfterBuying('service_processor_a'),
  processor_b: async () => {
    const { merchantId, publicKey, privateKey } = client.settings('processor_b');
    const { id } = (await client.buy({ platform: 'processor_b', productId: 'tip_jar', type: 'consumable' })).body;
    await client.call(`/api.sandbox.braintreegateway.com/merchants/${merchantId}/transactions`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${publicKey}:${privateKey}`).toString('base64')}` },
      body: JSON.stringify({ transaction: { type: 'sale', amount: '4.99', payment_method_nonce: id } }),
    });
    await client.act(id, 'test-notification');
  },
};

async function actAfterBuying(platform: string): Promise<void> {
  client.setNotificationUrl(platform, 'http://127.0.0.1:9/');
  const { id } = (await client.buy({ platform, productId: 'plan' })).body;
  client.setNotificationUrl(platform, receiver.url);
  await client.act(id, 'cancel');
}

const platforms = Object.keys(triggers);

test.each(platforms)('posts notifications of %s that the official client accepts', async (platform) => {
  client.setNotificationUrl(platform, receiver.url);
  await triggers[platform]?.();
  const [received] = await receiver.waitForCount(1);
  expect(received && (await verifiers[platform]?.(received))).toEqual(expect.any(String));
});

test.each(platforms)('posts the same notification of %s again after an error and a restart', async (platform) => {
  receiver.respondWith(respondWithStatus(503));
  client.setNotificationUrl(platform, receiver.url);
  await triggers[platform]?.();
  const [first] = await receiver.waitForCount(1);
  if (first === undefined) throw new Error('The first notification is missing');
  const id = await verifiers[platform]?.(first);
  // An attempt without a recorded response would be repeated at the start.
  await waitUntil(async () => {
    const { body } = await client.control('GET', '/control/notifications?state=waiting');
    return body.notifications[0]?.attempts.length === 1;
  });
  const now = client.clock.now();
  await client.close();
  client = await startEmulatorClient({ stateFile });
  client.clock.set(now);
  receiver.respondWith(respondWithStatus(200));
  await client.advance('PT1H');
  const second = (await receiver.waitForCount(2))[1];
  if (second === undefined) throw new Error('The second notification is missing');
  expect(second.body).toBe(first.body);
  expect(await verifiers[platform]?.(second)).toBe(id);
});

it('does not post notifications of an account without a URL', async () => {
  client.setNotificationUrl('processor_a', receiver.url);
  await client.buy({ platform: 'service_processor_a', productId: 'plan' });
  await client.buy({ platform: 'processor_a', productId: 'coins', type: 'consumable' });
  const received = await receiver.waitForCount(4);
  expect(received.map((notification) => parseEvent(notification, 'processor_a').livemode)).toEqual([
    true,
    true,
    true,
    true,
  ]);
});
