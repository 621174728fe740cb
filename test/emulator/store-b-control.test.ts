import { verify } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type StoreBClient, startStoreBClient, startTime } from './store-b-client-app.ts';

let user: StoreBClient;
beforeAll(async () => {
  user = await startStoreBClient();
});
afterAll(() => user.close());

/** Whether the licence key of the application vouches for exactly this text. */
function isSigned(receipt: string, signature: string): boolean {
  const key = Buffer.from(String(user.settings('store_b').licenseKey), 'base64');
  const publicKey = { key, format: 'der', type: 'spki' } as const;
  return verify('sha1', Buffer.from(receipt), publicKey, Buffer.from(signature, 'base64'));
}

describe('the control API', () => {
  it('gives what an operator would configure', () => {
    expect(user.settings('store_b')).toEqual({
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

  it('gives the body that a client would post, with a signed receipt', async () => {
    const { id, validate } = (await user.buy({ productId: 'signed', applicationUsername: 'Ann' })).body;
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
      acknowledged: false,
    });
  });

  it('speaks like the clients of today when asked to, and knows no other form', async () => {
    const { id, validate } = (await user.buy({ productId: 'branded', form: 'brand' })).body;
    expect(validate.transaction.type).toBe('android-playstore');
    expect(validate).not.toHaveProperty('additionalData');
    expect(await user.control('GET', `/control/purchases/${id}?form=jws`)).toMatchObject({ status: 400 });
  });

  it('tells of each change in the words of the notifications', async () => {
    const { id, notifications } = (await user.buy({ productId: 'told' })).body;
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
    const once = (await user.buy({ productId: 'once', type: 'non consumable' })).body;
    expect(once.notifications).toMatchObject([
      { oneTimeProductNotification: { notificationType: 1, purchaseToken: once.id, sku: 'once' } },
    ]);
  });

  it('sells a subscription again only when it has ended, and under the same terms', async () => {
    const order = { productId: 'again', applicationUsername: 'buyer' };
    const { id } = (await user.buy(order)).body;
    expect(await user.buy(order)).toMatchObject({ status: 422 });
    expect(await user.buy({ ...order, applicationUsername: 'other' })).toMatchObject({ status: 200 });
    expect(await user.buy({ productId: 'again', period: 'P1Y' })).toMatchObject({ status: 422 });
    await user.act(id, 'expire');
    expect((await user.buy(order)).body.id).not.toBe(id);
  });

  it('shows purchases under the names that the store has', async () => {
    expect(await user.buy({ platform: 'google', productId: 'alias' })).toMatchObject({
      status: 200,
      body: { platform: 'store_b', state: 'ACTIVE', sandbox: false, expiryTime: '2027-02-28T10:00:00.000Z' },
    });
  });

  it('keeps purchases, orders, void purchases and keys over a restart', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'store-b-'));
    const stateFile = join(folder, 'state.json');
    const before = await startStoreBClient({ stateFile });
    const { id } = (await before.buy({ trial: true, applicationUsername: 'Ann' })).body;
    await before.act(id, 'renew');
    await before.act(id, 'raise-price');
    const gone = (await before.buy({ productId: 'coins', type: 'consumable' })).body;
    await before.act(gone.id, 'refund');
    await before.api(`purchases/subscriptions/monthly/tokens/${id}:acknowledge`, { method: 'POST' });
    const headers = { authorization: `Bearer ${(await before.exchange()).body.access_token}` };
    const look = async (one: StoreBClient) => ({
      settings: one.settings('store_b'),
      subscription: (await one.api(`purchases/subscriptionsv2/tokens/${id}`, { headers })).body,
      voided: (await one.api('purchases/voidedpurchases', { headers })).body,
      validate: (await one.control('GET', `/control/purchases/${id}`)).body.validate,
    });
    const seen = await look(before);
    expect(seen.subscription.acknowledgementState).toBe('ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED');
    expect(seen.voided.voidedPurchases).toHaveLength(1);
    await before.close();
    const after = await startStoreBClient({ stateFile });
    expect(await look(after)).toEqual(seen);
    await after.close();
    await rm(folder, { recursive: true });
  });
});
