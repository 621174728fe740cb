import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { createRsaKeyPair } from '../../testing/run-keys.ts';
import { apiScope, type GooglePlayClient, startGooglePlayClient, startTime } from './google-play-client-app.ts';

let client: GooglePlayClient;
beforeAll(async () => {
  client = await startGooglePlayClient();
});
afterAll(() => client.close());

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
