import { verify } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type GooglePlayClient, startGooglePlayClient, startTime } from './google-play-client-app.ts';

let client: GooglePlayClient;
beforeAll(async () => {
  client = await startGooglePlayClient();
});
afterAll(() => client.close());

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
