import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createApiKey, type IssuedApiKeys, rotateApiKey, saveCatalogue } from '../../lib/apps/manage-apps.ts';
import { contracts } from '../../lib/contracts/index.ts';
import { issueAccessToken } from '../../lib/customers/access-token-table.ts';
import { getCustomerPurchases } from '../../lib/customers/contract.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { dayMs } from '../../lib/foundation/time.ts';
import { verifyPurchase } from '../../lib/openiap/contract.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
import { buildBasicAuth, type CallResult, callEndpoint, callWithSecretKey } from '../../testing/call.ts';
import { createObservation } from '../../testing/given.ts';
import { givenPurchase } from '../../testing/given-purchase.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const service = startBeforeAll(startTestService);
let keys: IssuedApiKeys;
beforeAll(async () => {
  keys = await service.createApp(['store_a', 'store_b']);
  await saveCatalogue(getService(), keys.appName, { coins: { type: 'consumable' } });
});
afterEach(async () => {
  await service.clearFaults();
});

/** Calls the endpoint like a released client: the public key alone is the Bearer token. */
const verify = async (body: object | string, key = keys.publicKey): Promise<CallResult> =>
  await callEndpoint(verifyPurchase, { headers: { authorization: `Bearer ${key}` }, body });

type Store = 'apple' | 'google';
const platforms = { apple: 'store_a', google: 'store_b' } as const;
interface Bought {
  readonly id: string;
  readonly body: { readonly store: Store };
}

/** Converts the response of the emulator to the body of an OpenIAP client. */
const toBody = (store: Store, { validate }: { validate: { transaction: Record<string, unknown> } }) =>
  store === 'apple'
    ? ({ store, jws: validate.transaction.jwsRepresentation } as const)
    : ({ store, purchaseToken: validate.transaction.purchaseToken } as const);

let users = 0;

async function buy(store: Store, order: object = {}): Promise<Bought> {
  const bought = await service.callControl('/purchases', {
    platform: platforms[store],
    productId: 'premium',
    type: 'paid subscription',
    applicationUsername: `openiap-${++users}`,
    ...(store === 'apple' && { form: 'product' }),
    ...order,
  });
  return { id: bought.id, body: toBody(store, bought) };
}

async function act(store: Store, { id }: Bought, action: string, details: object = {}): Promise<Bought> {
  const form = store === 'apple' && { form: 'product' };
  const result = await service.callControl(`/purchases/${id}/${action}`, { ...form, ...details });
  return { id, body: toBody(store, result) };
}

describe('POST /v1/purchase/verify', () => {
  it('returns the state of a subscription of the App Store, for the public key alone', async () => {
    const { body } = await buy('apple');
    const response = await verify(body);
    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      store: 'apple',
      isValid: true,
      state: 'ENTITLED',
      productId: 'premium',
      environment: 'Production',
    });
    expect(response.headers).toMatchObject({ 'Access-Control-Allow-Origin': '*' });
  });

  it('returns PENDING_ACKNOWLEDGMENT for a new purchase of Google Play until it is acknowledged', async () => {
    const bought = await buy('google');
    expect((await verify(bought.body)).body).toEqual({
      store: 'google',
      isValid: true,
      state: 'PENDING_ACKNOWLEDGMENT',
      productId: 'premium',
      environment: 'Production',
    });
    const acknowledged = await act('google', bought, 'acknowledge');
    expect((await verify(acknowledged.body)).body).toMatchObject({ isValid: true, state: 'ENTITLED' });
  });

  it('accepts the requests of the native modules of apple 3.2.1 and google 3.3.1', async () => {
    const headers = { authorization: `Bearer ${keys.publicKey}`, 'X-OpenIAP-Spec': '3.2.1' };
    const apple = { ...(await buy('apple')).body, includeClientPayload: false };
    const google = { ...(await buy('google')).body, includeClientPayload: true };
    for (const body of [apple, google]) {
      const response = await callEndpoint(verifyPurchase, { headers, body });
      expect(response).toMatchObject({ status: 200, body: { isValid: true, store: body.store } });
      expect(response.body).not.toHaveProperty('errors');
    }
  });

  it('reports a sandbox purchase with the environment Sandbox', async () => {
    const { body } = await buy('apple', { sandbox: true });
    expect((await verify(body)).body).toMatchObject({ isValid: true, environment: 'Sandbox' });
  });

  it.each([
    ['apple', 'coins', 'consumable', 'READY_TO_CONSUME'],
    ['apple', 'lifetime', 'non consumable', 'ENTITLED'],
    ['google', 'coins', 'consumable', 'READY_TO_CONSUME'],
    ['google', 'gems', 'consumable', 'PENDING_ACKNOWLEDGMENT'],
    ['google', 'lifetime', 'non consumable', 'PENDING_ACKNOWLEDGMENT'],
  ] as const)('returns for %s %s (%s) the state %s', async (store, productId, type, state) => {
    const { body } = await buy(store, { productId, type });
    expect((await verify(body)).body).toMatchObject({ isValid: true, state, productId });
  });

  it.each([
    ['apple', 'cancel', 'ENTITLED'],
    ['apple', 'expire', 'EXPIRED'],
    ['apple', 'refund', 'CANCELED'],
    ['apple', 'revoke', 'CANCELED'],
    ['google', 'cancel', 'ENTITLED'],
    ['google', 'expire', 'EXPIRED'],
    ['google', 'revoke', 'CANCELED'],
  ] as const)('returns for %s after the action %s the state %s', async (store, action, state) => {
    const bought = await buy(store);
    await verify(bought.body);
    if (store === 'google') await act(store, bought, 'acknowledge');
    const { body } = await act(store, bought, action);
    expect((await verify(body)).body).toMatchObject({ isValid: state === 'ENTITLED', state, productId: 'premium' });
  });

  it('returns ENTITLED for the first transaction of a renewed subscription', async () => {
    const bought = await buy('apple');
    await service.callControl('/clock', { advance: 'P1M1D' });
    await act('apple', bought, 'renew');
    expect((await verify(bought.body)).body).toMatchObject({ isValid: true, state: 'ENTITLED' });
  });

  it('returns PENDING for a purchase of Google Play that is paused, on hold or not paid', async () => {
    const unpaid = await buy('google', { pending: true });
    expect((await verify(unpaid.body)).body).toMatchObject({ isValid: false, state: 'PENDING' });
    const failed = await buy('google');
    await act('google', failed, 'acknowledge');
    await act('google', failed, 'fail-payment', { grace: false });
    expect((await verify(failed.body)).body).toMatchObject({ isValid: false, state: 'PENDING' });
  });

  it('returns INAUTHENTIC for a forged transaction, for an unknown token and for another app', async () => {
    const { body } = await buy('apple');
    const [header, payload] = String((body as unknown as { jws: string }).jws).split('.');
    const forged = { store: 'apple', jws: `${header}.${payload}.${Buffer.alloc(64, 7).toString('base64url')}` };
    const other = await service.createApp(['store_a'], { bundleId: 'com.example.other' });
    const rejection = { status: 200, body: { store: 'apple', isValid: false, state: 'INAUTHENTIC' } };
    expect(await verify(forged)).toMatchObject(rejection);
    expect(await verify(body, other.publicKey)).toMatchObject(rejection);
    expect((await verify({ store: 'google', purchaseToken: 'unknown-purchase-token-of-google' })).body).toEqual({
      store: 'google',
      isValid: false,
      state: 'INAUTHENTIC',
    });
  });

  it('compares expectedProductId with the product of the purchase', async () => {
    const { body } = await buy('google');
    expect((await verify({ ...body, expectedProductId: 'premium' })).body).toMatchObject({ isValid: true });
    expect((await verify({ ...body, expectedProductId: 'other' })).body).toMatchObject({
      isValid: false,
      state: 'INAUTHENTIC',
      productId: 'premium',
    });
  });

  it('records the purchase without a claim, even if the request names a customer without a proof', async () => {
    const { id, body } = await buy('google');
    await verify({ ...body, applicationUsername: 'mallory' });
    const stored = await callWithSecretKey(getPurchase, keys, { params: { purchaseId: `store_b:${id}` } });
    expect(stored.body).toMatchObject({ productId: 'store_b:premium', entitledUsers: [] });
    const purchases = await callWithSecretKey(getCustomerPurchases, keys, {
      params: { applicationUsername: 'mallory' },
    });
    expect(purchases.body.purchases).toEqual({});
  });

  it('claims the purchase for a customer with an access token, or with the secret key', async () => {
    const now = Date.now();
    await givenPurchase(
      keys.appName,
      'ann',
      createObservation({
        purchaseId: 'processor_a:sub_openiap',
        platform: 'processor_a',
        purchaseDate: now - dayMs,
        expirationDate: now + 30 * dayMs,
      }),
    );
    const grant = { platform: 'processor_a', subscription: 'sub_openiap', username: 'ann' } as const;
    const accessToken = await issueAccessToken(getService(), keys.appName, grant, now);
    const own = await buy('google');
    const verified = await verify({ ...own.body, applicationUsername: 'ann', accessToken });
    expect(verified.body).toMatchObject({ isValid: true });
    const foreign = await verify({ ...own.body, applicationUsername: 'bob', accessToken });
    expect(foreign).toMatchObject({ status: 403, body: { errors: [{ code: 'INVALID_API_KEY' }] } });
    const another = await buy('google', { productId: 'gold' });
    await verify({ ...another.body, applicationUsername: 'ann' }, keys.secretKey);
    const { purchases } = (
      await callWithSecretKey(getCustomerPurchases, keys, { params: { applicationUsername: 'ann' } })
    ).body as { purchases: object };
    expect(Object.keys(purchases)).toEqual(expect.arrayContaining(['store_b:premium', 'store_b:gold']));
  });

  it('returns the last verified state while Google Play is down, and an error for an unknown purchase', async () => {
    const [stored, unknown] = [await buy('google'), await buy('google')];
    await verify(stored.body);
    await service.callControl('/faults', { platform: 'store_b', fault: 'down', times: 40 });
    expect((await verify(stored.body)).body).toMatchObject({ isValid: true, productId: 'premium' });
    expect(await verify(unknown.body)).toMatchObject({ status: 502, body: { errors: [{ code: 'SERVICE_BUSY' }] } });
  });

  it('returns an error, not a rejection, if the settings of the store are missing', async () => {
    const app = await service.createApp([]);
    const { body } = await buy('google');
    const response = await verify(body, app.publicKey);
    expect(response).toMatchObject({ status: 500, body: { errors: [{ code: 'UNKNOWN_ERROR' }] } });
  });

  it.each([
    ['no store', { jws: 'a.b.c' }],
    ['an unsupported store', { store: 'amazon', userId: 'u', receiptId: 'r' }],
    ['a JWS that is not a transaction', { store: 'apple', jws: 'eyJhIjoxfQ.eyJiIjoyfQ.c2ln' }],
    ['a receipt instead of a JWS', { store: 'apple', jws: 'MIIT' }],
    ['no purchase token', { store: 'google' }],
    ['truncated JSON', '{"store":"apple"'],
  ])('rejects %s with INVALID_INPUT', async (_case, body) => {
    const response = await verify(body);
    expect(response.status).toBe(400);
    expect(response.body).toEqual({ errors: [{ code: 'INVALID_INPUT', message: expect.any(String) }] });
  });

  it('accepts any key of the app, even after a rotation, and the app name with the key as elsewhere', async () => {
    const { body } = await buy('google');
    const app = await service.createApp(['store_b']);
    const named = await createApiKey(getService(), app.appName, { level: 'public', name: 'web', now: Date.now() });
    const rotated = await rotateApiKey(getService(), app.appName, { level: 'public', overlapMs: 0, now: Date.now() });
    await service.callControl('/clock', { advance: 'PT1M' });
    for (const key of [named.key, rotated, app.secretKey]) expect((await verify(body, key)).status).toBe(200);
    for (const key of [app.publicKey, `pub_${'x'.repeat(43)}`]) {
      expect(await verify(body, key)).toMatchObject({ status: 401, body: { errors: [{ code: 'INVALID_API_KEY' }] } });
    }
    const withName = await callEndpoint(verifyPurchase, { headers: buildBasicAuth(app.appName, rotated), body });
    expect(withName.status).toBe(200);
  });

  it.each(['pub_wrong', 'my-old-key', `pub_${'x'.repeat(43)}`])(
    'reports that the key %s does not match',
    async (key) => {
      const { body } = await buy('google');
      const errors = [{ code: 'INVALID_API_KEY', message: 'The key does not match.' }];
      expect(await verify(body, key)).toMatchObject({ status: 401, body: { errors } });
    },
  );

  it('reports a missing key', async () => {
    const errors = [{ code: 'INVALID_API_KEY', message: expect.stringContaining('missing') }];
    const { body } = await buy('google');
    for (const headers of [{}, { authorization: 'Bearer' }, { authorization: 'Basic pub_wrong' }])
      expect(await callEndpoint(verifyPurchase, { headers, body })).toMatchObject({ status: 401, body: { errors } });
  });

  it('rejects the key alone at other endpoints', async () => {
    const headers = { authorization: `Bearer ${keys.secretKey}` };
    const response = await callEndpoint(getCustomerPurchases, { headers, params: { applicationUsername: 'ann' } });
    expect(response.status).toBe(401);
  });

  it('reads and moves no subscriptions of a customer with a public key: OpenIAP has no other endpoint', () => {
    const paths = contracts.flatMap(({ path, aliases = [] }) => [path, ...aliases]);
    expect(paths.filter((path) => /^\/v[12]\/(?:subscriptions|purchase)\b|bind-user/.test(path))).toEqual([
      '/v1/purchase/verify',
    ]);
  });
});
