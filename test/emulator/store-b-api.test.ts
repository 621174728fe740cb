import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { apiScope, type StoreBClient, startStoreBClient, startTime } from './store-b-client-app.ts';

let user: StoreBClient;
beforeAll(async () => {
  user = await startStoreBClient();
});
afterAll(() => user.close());

const seconds = startTime / 1000;

describe('the token endpoint', () => {
  it('gives the service account a token of an hour', async () => {
    expect(await user.exchange()).toMatchObject({
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
      'by another key',
      {
        privateKey: generateKeyPairSync('rsa', {
          modulusLength: 2048,
          privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
          publicKeyEncoding: { type: 'spki', format: 'pem' },
        }).privateKey,
      },
      'invalid_grant',
    ],
  ])('refuses an assertion %s', async (_what, changes, error) => {
    expect(await user.exchange(changes)).toMatchObject({ status: 400, body: { error } });
  });

  it('forgives a clock that is a little off', async () => {
    const early = { iat: seconds + 200, exp: seconds + 3800 };
    expect(await user.exchange({ claims: early })).toMatchObject({ status: 200 });
  });
});

describe('a call', () => {
  test.each([{}, { authorization: 'Bearer none' }, { authorization: 'Bearer ya29.e30.e30' }])(
    'without a good bearer is refused: %j',
    async (headers) => {
      expect(await user.api('purchases/subscriptionsv2/tokens/any', { headers })).toMatchObject({
        status: 401,
        body: { error: { code: 401, status: 'UNAUTHENTICATED', errors: [{ reason: 'authError' }] } },
      });
    },
  );

  it('with a bearer of an hour ago is refused', async () => {
    const headers = { authorization: `Bearer ${(await user.exchange()).body.access_token}` };
    expect(await user.api('purchases/voidedpurchases', { headers })).toMatchObject({ status: 200 });
    await user.advance('PT1H');
    expect(await user.api('purchases/voidedpurchases', { headers })).toMatchObject({ status: 401 });
  });

  it('for another application is refused', async () => {
    const { id } = (await user.buy()).body;
    expect(await user.api(`../com.example.other/purchases/subscriptionsv2/tokens/${id}`)).toMatchObject({
      status: 404,
      body: { error: { errors: [{ reason: 'applicationNotFound' }] } },
    });
  });

  test.each(['purchases/subscriptionsv2/tokens/x', 'purchases/productsv2/tokens/x', 'purchases/products/p/tokens/x'])(
    'for what is not there is refused: %s',
    async (path) => {
      expect(await user.api(path)).toMatchObject({ status: 404, body: { error: { code: 404 } } });
    },
  );

  it('takes no subscription for a product, no product for a subscription or for another', async () => {
    const invalid = { status: 400, body: { error: { code: 400, errors: [{ reason: 'invalid' }] } } };
    const { id } = (await user.buy()).body;
    expect(await user.product(id)).toMatchObject(invalid);
    expect(await user.api(`purchases/products/monthly/tokens/${id}`)).toMatchObject(invalid);
    const coins = (await user.buy({ productId: 'coins', type: 'consumable' })).body;
    expect(await user.subscription(coins.id)).toMatchObject(invalid);
    expect(await user.api(`purchases/products/gems/tokens/${coins.id}`)).toMatchObject({ status: 400 });
  });

  it('for a subscription that ended sixty days ago is refused as too late', async () => {
    const { id } = (await user.buy()).body;
    await user.act(id, 'expire');
    await user.advance('P59D');
    expect(await user.subscription(id)).toMatchObject({ status: 200 });
    await user.advance('P1D');
    expect(await user.subscription(id)).toMatchObject({ status: 410, body: { error: { code: 410 } } });
  });

  test.each([
    ['down', 503, 'UNAVAILABLE'],
    ['rate-limited', 429, 'RESOURCE_EXHAUSTED'],
  ])('meets the fault %s in the words of Google', async (fault, code, status) => {
    await user.addFault({ fault });
    const { body, ...response } = await user.call('/androidpublisher.googleapis.com/');
    expect({ ...response, body }).toMatchObject({ status: code, body: { error: { code, status } } });
  });
});
