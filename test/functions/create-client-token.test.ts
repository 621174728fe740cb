import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createClientToken } from '../../lib/checkout/contract.ts';
import { getRefreshToken } from '../../lib/purchases/contract.ts';
import { callWithPublicKey, callWithSecretKey } from '../../testing/call.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const service = startBeforeAll(startTestService);
const keys = startBeforeAll(async () => await service.createApp(['processor_b']));

const call = async (body: object, path?: string) =>
  await callWithPublicKey(createClientToken, keys, { body, ...(path && { path }) });

/** Requests a client token. Returns the token and the Braintree customer whose payment methods it shows, if any. */
async function requestToken(body: object, appKeys = keys) {
  const { clientToken } = (await callWithPublicKey(createClientToken, appKeys, { body })).body;
  const { authorizationFingerprint } = JSON.parse(Buffer.from(clientToken, 'base64').toString('utf8'));
  const [, customer] = /customer_id=([\w-]+)/.exec(authorizationFingerprint) ?? [];
  return { clientToken, customer };
}

const tip = { platform: 'processor_b', productId: 'tip_jar', type: 'consumable', form: 'brand' };
const monthly = { ...tip, productId: 'monthly', type: 'paid subscription' };

/** Creates the validation request of a purchase with a new nonce. */
const buy = async (order: object) => (await service.callControl('/purchases', order)).validate;

/** Validates a request. Returns the purchase id and the id of the customer that the client stores. */
async function validate(body: object, appKeys = keys) {
  const { body: response } = await service.validate(appKeys, body);
  if (!response.ok) throw new Error(response.message);
  const { collection, transaction } = response.data;
  return {
    customerId: transaction.data.transaction.customer.id,
    purchaseId: `processor_b:${collection[0].purchaseId}`,
  };
}

const validatePurchase = async (order: object) => await validate(await buy(order));

describe('POST /v3/processor_b/client-token', () => {
  it.each([
    ['a new customer', { applicationUsername: 'user-42' }],
    ['a client that sends null as customer id', { applicationUsername: 'user-42', customerId: null }],
  ])('returns a client token for %s', async (_description, body) => {
    const response = await call(body);
    expect(response).toMatchObject({ status: 200, body: { success: true, clientToken: expect.any(String) } });
  });

  it('accepts the brand path of existing clients', async () => {
    expect((await call({}, '/v3/braintree/client-token')).body.success).toBe(true);
  });

  it.each([{}, { applicationUsername: null }, { applicationUsername: '' }])(
    'rejects %j without a username with status 200, which clients read',
    async (body) => {
      expect(await call(body)).toMatchObject({ status: 200, body: { success: false, message: expect.any(String) } });
    },
  );

  it.each([tip, monthly])(
    'returns a client token for the customer of a validated purchase of $productId',
    async (order) => {
      const { customerId } = await validatePurchase({ ...order, applicationUsername: 'Ann' });
      expect((await requestToken({ applicationUsername: 'Ann', customerId })).customer).toEqual(expect.any(String));
    },
  );

  it('keeps the customer id for repeated validations and for further purchases with saved payment methods', async () => {
    for (const order of [tip, monthly]) {
      const request = await buy({ ...order, applicationUsername: 'Bob' });
      const { customerId } = await validate(request);
      expect((await validate(request)).customerId).toBe(customerId);
      const { clientToken } = await requestToken({ applicationUsername: 'Bob', customerId });
      for (const next of [tip, monthly]) {
        expect(await validatePurchase({ ...next, applicationUsername: 'Bob', clientToken })).toMatchObject({
          customerId,
        });
      }
    }
  });

  it('returns a token for a new customer if the customer id is not of a purchase of the app', async () => {
    const { customerId, purchaseId } = await validatePurchase({ ...tip, applicationUsername: 'Cid' });
    const { body: refreshToken } = await callWithSecretKey(getRefreshToken, keys, { params: { purchaseId } });
    const computable = createHash('sha256')
      .update(JSON.stringify([keys.appName, 'user', 'Cid']))
      .digest('hex')
      .slice(0, 32);
    const braintreeId = JSON.parse(JSON.stringify(refreshToken)).refreshToken?.customerId ?? 'none';
    for (const other of [computable, braintreeId, 'nobody', 'Cid']) {
      expect(await requestToken({ applicationUsername: 'Cid', customerId: other })).not.toHaveProperty(
        'customer',
        expect.any(String),
      );
    }
    const otherApp = await service.createApp(['processor_b']);
    expect((await requestToken({ applicationUsername: 'Cid', customerId }, otherApp)).customer).toBeUndefined();
    expect((await requestToken({ applicationUsername: 'Cid', customerId })).customer).toEqual(expect.any(String));
  });

  it('does not show the customer of a buyer to another buyer with the same username', async () => {
    const victim = await validatePurchase({ ...tip, applicationUsername: 'Dora' });
    const attacker = await validatePurchase({ ...tip, applicationUsername: 'Dora' });
    const [shown, own] = [
      await requestToken({ applicationUsername: 'Dora', customerId: attacker.customerId }),
      await requestToken({ applicationUsername: 'Dora', customerId: victim.customerId }),
    ];
    expect(shown.customer).not.toBe(own.customer);
  });

  it('does not show the customer of a buyer to another user who submits the same nonce', async () => {
    const request = await buy({ ...tip, applicationUsername: 'Emil' });
    const { customerId } = await validate(request);
    const replay = { ...request, additionalData: { applicationUsername: 'Fay' } };
    expect(customerId).toEqual(expect.any(String));
    expect(await validate(replay)).toHaveProperty('customerId', undefined);
    expect(await validate(request)).toHaveProperty('customerId', customerId);
  });

  it.each([
    ['an unavailable processor', async () => keys, /^Braintree is unavailable/],
    ['an app without settings', async () => await service.createApp([]), /settings/],
    ['a wrong key', async () => ({ ...keys, publicKey: 'pub_wrong' }), /do not match/],
  ])('reports %s with status 200 and a message', async (_case, getKeys, message) => {
    const appKeys = await getKeys();
    await service.callControl('/faults', { platform: 'processor_b', fault: 'down' });
    const response = await callWithPublicKey(createClientToken, appKeys, { body: { applicationUsername: 'Gus' } });
    await service.clearFaults();
    expect(response).toMatchObject({
      status: 200,
      body: { success: false, message: expect.stringMatching(message) },
    });
  });
});
