import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import {
  collectionsHost,
  decodePayload,
  type MicrosoftStoreClient,
  onestoreUrl,
  purchaseHost,
  startMicrosoftStoreClient,
  startTime,
  toClaimName,
} from './microsoft-store-client-app.ts';

let client: MicrosoftStoreClient;
let tenantId: string;
beforeAll(async () => {
  client = await startMicrosoftStoreClient();
  tenantId = String(client.settings('store_c').tenantId);
});
afterAll(() => client.close());

const ticketFor = (service: string): Promise<string> => client.token(`${onestoreUrl}/b2b/keys/create/${service}`);

describe('Entra token endpoint', () => {
  it('returns a token with a TTL of one hour for an audience, with numbers as strings in version 1', async () => {
    const { status, body } = await client.entra({ resource: onestoreUrl });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        token_type: 'Bearer',
        expires_in: '3599',
        expires_on: String(startTime / 1000 + 3600),
        resource: onestoreUrl,
      },
    });
    expect(body).not.toHaveProperty('refresh_token');
    const { clientId } = client.settings('store_c');
    expect(decodePayload(body.access_token)).toMatchObject({
      aud: onestoreUrl,
      appid: clientId,
      exp: startTime / 1000 + 3600,
    });
  });

  it('accepts a scope in version 2 and returns numbers', async () => {
    const path = `/${tenantId}/oauth2/v2.0/token`;
    const { body } = await client.entra({ scope: `${onestoreUrl}/.default` }, path);
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3599 });
    expect(decodePayload(body.access_token).aud).toBe(onestoreUrl);
    expect(await client.entra({ scope: onestoreUrl }, path)).toMatchObject({
      status: 400,
      body: { error: 'invalid_scope' },
    });
  });

  test.each([
    [{ client_secret: 'wrong' }, 401, 'invalid_client'],
    [{ client_id: 'another' }, 400, 'unauthorized_client'],
    [{ grant_type: 'password' }, 400, 'unsupported_grant_type'],
    [{ resource: 'https://graph.microsoft.com' }, 400, 'invalid_resource'],
  ])('rejects %j', async (form, status, error) => {
    expect(await client.entra({ resource: onestoreUrl, ...form })).toMatchObject({ status, body: { error } });
  });

  it('rejects another tenant', async () => {
    const result = await client.entra({ resource: onestoreUrl }, '/another/oauth2/token');
    expect(result).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });
});

describe('StoreID keys', () => {
  it('creates a key from a service ticket for the user id of the publisher', async () => {
    await client.buy({ applicationUsername: 'key user', productId: 'key product' });
    const body = { serviceTicket: await ticketFor('purchase'), publisherUserId: 'key user' };
    const result = await client.post('onestore.microsoft.com', '/b2b/keys/create/purchase', body);
    expect(decodePayload(result.body.key)).toMatchObject({
      iss: 'https://purchase.mp.microsoft.com/v6.0/keys',
      aud: 'https://purchase.mp.microsoft.com/v6.0/keys',
      exp: startTime / 1000 + 30 * 86_400,
      [toClaimName('clientId')]: String(client.settings('store_c').clientId).replaceAll('-', ''),
      [toClaimName('userId')]: 'key user',
      [toClaimName('refreshUri')]: 'https://purchase.mp.microsoft.com/v6.0/b2b/keys/renew',
    });
  });

  it('rejects a ticket for the wrong service and an unknown customer', async () => {
    const body = { serviceTicket: await ticketFor('purchase'), publisherUserId: 'nobody' };
    const create = (service: string) => client.post('onestore.microsoft.com', `/b2b/keys/create/${service}`, body);
    expect(await create('collections')).toMatchObject({
      status: 401,
      body: { code: 'Unauthorized', innererror: { code: 'AuthenticationTokenInvalid' } },
    });
    expect(await create('purchase')).toMatchObject({ status: 404 });
  });

  it('renews a key only before it expires', async () => {
    const secondClient = await startMicrosoftStoreClient();
    const { id } = (await secondClient.buy()).body;
    const key = await secondClient.key('collections', id);
    await secondClient.advance('P29D');
    const renewal = async (old: string) =>
      secondClient.post(collectionsHost, '/v6.0/b2b/keys/renew', {
        serviceTicket: await secondClient.token(),
        Key: old,
      });
    const renewed = (await renewal(key)).body.key;
    expect(decodePayload(renewed).exp).toBe(startTime / 1000 + 59 * 86_400);
    expect(decodePayload(renewed)[toClaimName('userId')]).toBe('the user');
    await secondClient.advance('P2D');
    expect(await renewal(key)).toMatchObject({ status: 401 });
    expect((await renewal(renewed)).status).toBe(200);
    await secondClient.close();
  });

  it('accepts a key only for its service and from its client', async () => {
    const { id } = (await client.buy({ productId: 'own service' })).body;
    const key = await client.key('collections', id);
    const path = '/v8.0/b2b/recurrences/query';
    const refused = { status: 401, body: { innererror: { code: 'AuthenticationTokenInvalid' } } };
    expect(await client.post(purchaseHost, path, { b2bKey: key })).toMatchObject(refused);
    const forged = `${(await client.key('purchase', id)).slice(0, -8)}AAAAAAAA`;
    expect(await client.post(purchaseHost, path, { b2bKey: forged })).toMatchObject(refused);
    const noToken = await client.call(`/${purchaseHost}${path}`, {
      method: 'POST',
      body: JSON.stringify({ b2bKey: key }),
    });
    expect(noToken).toMatchObject({ status: 401, body: { innererror: { code: 'PartnerAadTicketRequired' } } });
  });
});
