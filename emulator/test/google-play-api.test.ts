import { verify } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { androidpublisher } from '@googleapis/androidpublisher';
import { beforeEach, describe, expect, it, test } from '@jest/globals';
import { createRsaKeyPair } from '../../testing/run-keys.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { apiScope, type GooglePlayClient, startGooglePlayClient, startTime } from './google-play-client-app.ts';

const client = startBeforeAll(startGooglePlayClient);
beforeEach(() => client.clock.set(startTime));

const seconds = startTime / 1000;

describe('POST /token (Google Play)', () => {
  it('returns an access token with a TTL of one hour', async () => {
    expect(await client.exchange()).toMatchObject({
      status: 200,
      body: { access_token: expect.stringMatching(/^ya29\./), expires_in: 3600, token_type: 'Bearer' },
    });
  });

  test.each<[string, object, string]>([
    ['of another issuer', { claims: { iss: 'other@example.com' } }, 'invalid_grant'],
    ['for another audience', { claims: { aud: 'https://example.com' } }, 'invalid_grant'],
    ['for another scope', { claims: { scope: `${apiScope}.more` } }, 'invalid_scope'],
    ['that is old', { claims: { iat: seconds - 4200, exp: seconds - 600 } }, 'invalid_grant'],
    ['of the future', { claims: { iat: seconds + 600, exp: seconds + 1200 } }, 'invalid_grant'],
    ['that lives too long', { claims: { exp: seconds + 3601 } }, 'invalid_grant'],
    ['with another key id', { header: { kid: 'other' } }, 'invalid_grant'],
    ['without a signature', { header: { alg: 'none' } }, 'invalid_grant'],
    [
      'of another key',
      {
        privateKey: createRsaKeyPair().privateKey.export({ type: 'pkcs8', format: 'pem' }),
      },
      'invalid_grant',
    ],
  ])('rejects an assertion %s', async (_what, changes, error) => {
    expect(await client.exchange(changes)).toMatchObject({ status: 400, body: { error } });
  });

  it('tolerates a small clock difference', async () => {
    const early = { iat: seconds + 200, exp: seconds + 3800 };
    expect(await client.exchange({ claims: early })).toMatchObject({ status: 200 });
  });
});

describe('Google Play Developer API', () => {
  test.each([{}, { authorization: 'Bearer none' }, { authorization: 'Bearer ya29.e30.e30' }])(
    'rejects a call without a valid token: %j',
    async (headers) => {
      expect(await client.api('purchases/subscriptionsv2/tokens/any', { headers })).toMatchObject({
        status: 401,
        body: { error: { code: 401, status: 'UNAUTHENTICATED', errors: [{ reason: 'authError' }] } },
      });
    },
  );

  it('rejects an expired token', async () => {
    const headers = { authorization: `Bearer ${(await client.exchange()).body.access_token}` };
    expect(await client.api('purchases/voidedpurchases', { headers })).toMatchObject({ status: 200 });
    await client.advance('PT1H');
    expect(await client.api('purchases/voidedpurchases', { headers })).toMatchObject({ status: 401 });
  });

  it('rejects a call for another app', async () => {
    const { id } = (await client.buy()).body;
    expect(await client.api(`../com.example.other/purchases/subscriptionsv2/tokens/${id}`)).toMatchObject({
      status: 404,
      body: { error: { errors: [{ reason: 'applicationNotFound' }] } },
    });
  });

  test.each(['purchases/subscriptionsv2/tokens/x', 'purchases/productsv2/tokens/x', 'purchases/products/p/tokens/x'])(
    'rejects a missing purchase: %s',
    async (path) => {
      expect(await client.api(path)).toMatchObject({ status: 404, body: { error: { code: 404 } } });
    },
  );

  it('rejects a token if the kind of purchase or the product does not match', async () => {
    const invalid = { status: 400, body: { error: { code: 400, errors: [{ reason: 'invalid' }] } } };
    const { id } = (await client.buy()).body;
    expect(await client.product(id)).toMatchObject(invalid);
    expect(await client.api(`purchases/products/monthly/tokens/${id}`)).toMatchObject(invalid);
    const coins = (await client.buy({ productId: 'coins', type: 'consumable' })).body;
    expect(await client.subscription(coins.id)).toMatchObject(invalid);
    expect(await client.api(`purchases/products/gems/tokens/${coins.id}`)).toMatchObject({ status: 400 });
  });

  it('returns 410 for a subscription that ended 60 days ago', async () => {
    const { id } = (await client.buy()).body;
    await client.act(id, 'expire');
    await client.advance('P59D');
    expect(await client.subscription(id)).toMatchObject({ status: 200 });
    await client.advance('P1D');
    expect(await client.subscription(id)).toMatchObject({ status: 410, body: { error: { code: 410 } } });
  });

  test.each([
    ['down', 503, 'UNAVAILABLE'],
    ['rate-limited', 429, 'RESOURCE_EXHAUSTED'],
  ])('returns the documented error for the fault %s', async (fault, code, status) => {
    await client.addFault({ fault });
    const { body, ...response } = await client.call('/androidpublisher.googleapis.com/');
    expect({ ...response, body }).toMatchObject({ status: code, body: { error: { code, status } } });
  });
});

const packageName = 'com.example.app';

/** Creates Google's client with a token of the service account. */
async function googleClient() {
  const { access_token } = (await client.exchange()).body;
  return androidpublisher({
    version: 'v3',
    headers: { authorization: `Bearer ${access_token}` },
    fetchImplementation: (url, init) => fetch(String(url).replace('https://', `${client.url}/`), init),
  });
}

it("returns subscriptions to Google's client", async () => {
  const { purchases, orders } = await googleClient();
  const { id: token } = (await client.buy()).body;
  await purchases.subscriptions.acknowledge({ packageName, token, subscriptionId: 'monthly' });
  const subscription = (await purchases.subscriptionsv2.get({ packageName, token })).data;
  expect(subscription).toMatchObject({
    subscriptionState: 'SUBSCRIPTION_STATE_ACTIVE',
    acknowledgementState: 'ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED',
  });
  const orderId = String(subscription.lineItems?.[0]?.latestSuccessfulOrderId);
  expect((await orders.get({ packageName, orderId })).data).toMatchObject({ orderId, purchaseToken: token });
  const batch = await orders.batchget({ packageName, orderIds: [orderId] });
  expect(batch.data.orders).toMatchObject([{ orderId }]);
});

it("returns one-time purchases to Google's client", async () => {
  const { purchases } = await googleClient();
  const productId = 'coins of gold';
  const { id: token } = (await client.buy({ productId, type: 'consumable' })).body;
  await purchases.products.acknowledge({ packageName, productId, token });
  await purchases.products.consume({ packageName, productId, token });
  expect((await purchases.products.get({ packageName, productId, token })).data).toMatchObject({ consumptionState: 1 });
  expect((await purchases.productsv2.getproductpurchasev2({ packageName, token })).data).toMatchObject({
    productLineItem: [{ productId, productOfferDetails: { consumptionState: 'CONSUMPTION_STATE_CONSUMED' } }],
  });
  await client.act(token, 'revoke');
  const { data } = await purchases.voidedpurchases.list({ packageName, type: 1, maxResults: 10 });
  expect(data.voidedPurchases).toMatchObject([{ purchaseToken: token }]);
  await expect(purchases.subscriptionsv2.get({ packageName, token })).rejects.toMatchObject({ status: 400 });
});

/** Signed with the app's license key. */
function isSigned(receipt: string, signature: string): boolean {
  const key = Buffer.from(String(client.settings('store_b').licenseKey), 'base64');
  const publicKey = { key, format: 'der', type: 'spki' } as const;
  return verify('sha1', Buffer.from(receipt), publicKey, Buffer.from(signature, 'base64'));
}

describe('control API of Google Play', () => {
  it('returns the settings that an operator configures', () => {
    expect(client.settings('store_b')).toEqual({
      packageName: 'com.example.app',
      serviceAccount: {
        type: 'service_account',
        client_email: expect.stringMatching(/@.*\.iam\.gserviceaccount\.com$/),
        private_key: expect.stringMatching(/^-----BEGIN PRIVATE KEY-----/),
        private_key_id: expect.stringMatching(/^[0-9a-f]{40}$/),
        token_uri: 'https://oauth2.googleapis.com/token',
      },
      licenseKey: expect.stringMatching(/^MIIB/),
      pushAudience: 'play-notifications.example.com',
      pushServiceAccount: expect.stringMatching(/@.*\.iam\.gserviceaccount\.com$/),
    });
  });

  it('returns a validate body with a signed receipt', async () => {
    const { id, validate } = (await client.buy({ productId: 'signed', applicationUsername: 'Ann' })).body;
    const { receipt, signature, ...transaction } = validate.transaction;
    const user32 = '82e335f7ac0e0e412b2ae15abe662110';
    expect(validate).toMatchObject({
      id: 'signed',
      type: 'paid subscription',
      priceMicros: 4_990_000,
      currency: 'USD',
      additionalData: { applicationUsername: 'Ann', obfuscatedUsername: user32 },
    });
    expect(transaction).toEqual({
      type: 'android-store',
      id: expect.stringMatching(/^GPA\.[\d-]+$/),
      purchaseToken: id,
    });
    expect(isSigned(receipt, signature)).toBe(true);
    expect(isSigned(`${receipt} `, signature)).toBe(false);
    expect(JSON.parse(receipt)).toEqual({
      orderId: transaction.id,
      packageName: 'com.example.app',
      productId: 'signed',
      purchaseTime: startTime,
      purchaseState: 0,
      purchaseToken: id,
      obfuscatedAccountId: user32,
      quantity: 1,
      autoRenewing: true,
      acknowledged: true,
    });
  });

  it('returns brand tokens on request and rejects unknown forms', async () => {
    const { id, validate } = (await client.buy({ productId: 'branded', form: 'brand' })).body;
    expect(validate.transaction.type).toBe('android-playstore');
    expect(validate).not.toHaveProperty('additionalData');
    expect(await client.control('GET', `/control/purchases/${id}?form=jws`)).toMatchObject({ status: 400 });
  });

  it('returns the notifications of each change', async () => {
    const { id, notifications } = (await client.buy({ productId: 'told' })).body;
    expect(notifications).toEqual([
      {
        platform: 'store_b',
        purchaseId: id,
        at: new Date(startTime).toISOString(),
        version: '1.0',
        packageName: 'com.example.app',
        eventTimeMillis: String(startTime),
        subscriptionNotification: {
          version: '1.0',
          notificationType: 4,
          purchaseToken: id,
          subscriptionId: 'told',
        },
      },
    ]);
    const once = (await client.buy({ productId: 'once', type: 'non consumable' })).body;
    expect(once.notifications).toMatchObject([
      { oneTimeProductNotification: { notificationType: 1, purchaseToken: once.id, sku: 'once' } },
    ]);
  });

  it('sells a subscription again only after its end and on the same terms', async () => {
    const order = { productId: 'again', applicationUsername: 'buyer' };
    const { id } = (await client.buy(order)).body;
    expect(await client.buy(order)).toMatchObject({ status: 422 });
    expect(await client.buy({ ...order, applicationUsername: 'other' })).toMatchObject({ status: 200 });
    expect(await client.buy({ productId: 'again', period: 'P1Y' })).toMatchObject({ status: 422 });
    await client.act(id, 'expire');
    expect((await client.buy(order)).body.id).not.toBe(id);
  });

  it('accepts the aliases of the store', async () => {
    expect(await client.buy({ platform: 'google', productId: 'alias' })).toMatchObject({
      status: 200,
      body: { platform: 'store_b', state: 'ACTIVE', sandbox: false, expiryTime: '2027-02-28T10:00:00.000Z' },
    });
  });

  it('keeps purchases, orders, voided purchases and keys over a restart', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'google-play-'));
    const stateFile = join(folder, 'state.json');
    const before = await startGooglePlayClient({ stateFile });
    const { id } = (await before.buy({ trial: true, applicationUsername: 'Ann' })).body;
    await before.act(id, 'renew');
    await before.act(id, 'raise-price');
    const coins = (await before.buy({ productId: 'coins', type: 'consumable' })).body;
    await before.act(coins.id, 'refund');
    await before.api(`purchases/subscriptions/monthly/tokens/${id}:acknowledge`, { method: 'POST' });
    const headers = { authorization: `Bearer ${(await before.exchange()).body.access_token}` };
    const snapshot = async (target: GooglePlayClient) => ({
      settings: target.settings('store_b'),
      subscription: (await target.api(`purchases/subscriptionsv2/tokens/${id}`, { headers })).body,
      voided: (await target.api('purchases/voidedpurchases', { headers })).body,
      validate: (await target.control('GET', `/control/purchases/${id}`)).body.validate,
    });
    const saved = await snapshot(before);
    expect(saved.subscription.acknowledgementState).toBe('ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED');
    expect(saved.voided.voidedPurchases).toHaveLength(1);
    await before.close();
    const after = await startGooglePlayClient({ stateFile });
    expect(await snapshot(after)).toEqual(saved);
    await after.close();
    await rm(folder, { recursive: true });
  });
});
