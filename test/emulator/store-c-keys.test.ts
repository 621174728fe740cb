import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import {
  collectionsHost,
  decodePayload,
  onestoreUrl,
  purchaseHost,
  type StoreCClient,
  startStoreCClient,
  startTime,
  toClaimName,
} from './store-c-client-app.ts';

let user: StoreCClient;
let tenantId: string;
beforeAll(async () => {
  user = await startStoreCClient();
  tenantId = String(user.settings('store_c').tenantId);
});
afterAll(() => user.close());

const ticketFor = (service: string): Promise<string> => user.token(`${onestoreUrl}/b2b/keys/create/${service}`);

describe('Entra', () => {
  it('gives an application a token of an hour for one audience, with numbers as text in version 1', async () => {
    const { status, body } = await user.entra({ resource: onestoreUrl });
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
    const { clientId } = user.settings('store_c');
    expect(decodePayload(body.access_token)).toMatchObject({
      aud: onestoreUrl,
      appid: clientId,
      exp: startTime / 1000 + 3600,
    });
  });

  it('takes a scope in version 2 and gives numbers', async () => {
    const path = `/${tenantId}/oauth2/v2.0/token`;
    const { body } = await user.entra({ scope: `${onestoreUrl}/.default` }, path);
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3599 });
    expect(decodePayload(body.access_token).aud).toBe(onestoreUrl);
    expect(await user.entra({ scope: onestoreUrl }, path)).toMatchObject({
      status: 400,
      body: { error: 'invalid_scope' },
    });
  });

  test.each([
    [{ client_secret: 'wrong' }, 401, 'invalid_client'],
    [{ client_id: 'another' }, 400, 'unauthorized_client'],
    [{ grant_type: 'password' }, 400, 'unsupported_grant_type'],
    [{ resource: 'https://graph.microsoft.com' }, 400, 'invalid_resource'],
  ])('refuses %j', async (form, status, error) => {
    expect(await user.entra({ resource: onestoreUrl, ...form })).toMatchObject({ status, body: { error } });
  });

  it('knows no other tenant', async () => {
    const result = await user.entra({ resource: onestoreUrl }, '/another/oauth2/token');
    expect(result).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });
});

describe('a StoreID key', () => {
  it('is made on the device from a ticket, for the user that the application names', async () => {
    await user.buy({ applicationUsername: 'key user', productId: 'key product' });
    const body = { serviceTicket: await ticketFor('purchase'), publisherUserId: 'key user' };
    const result = await user.post('onestore.microsoft.com', '/b2b/keys/create/purchase', body);
    expect(decodePayload(result.body.key)).toMatchObject({
      iss: 'https://purchase.mp.microsoft.com/v6.0/keys',
      aud: 'https://purchase.mp.microsoft.com/v6.0/keys',
      exp: startTime / 1000 + 30 * 86_400,
      [toClaimName('clientId')]: String(user.settings('store_c').clientId).replaceAll('-', ''),
      [toClaimName('userId')]: 'key user',
      [toClaimName('refreshUri')]: 'https://purchase.mp.microsoft.com/v6.0/b2b/keys/renew',
    });
  });

  it('is not made from a ticket for the other service, nor for nobody', async () => {
    const body = { serviceTicket: await ticketFor('purchase'), publisherUserId: 'nobody' };
    const create = (service: string) => user.post('onestore.microsoft.com', `/b2b/keys/create/${service}`, body);
    expect(await create('collections')).toMatchObject({
      status: 401,
      body: { code: 'Unauthorized', innererror: { code: 'AuthenticationTokenInvalid' } },
    });
    expect(await create('purchase')).toMatchObject({ status: 404 });
  });

  it('is renewed before it expires, and not afterwards', async () => {
    const other = await startStoreCClient();
    const { id } = (await other.buy()).body;
    const key = await other.key('collections', id);
    await other.advance('P29D');
    const renewal = async (old: string) =>
      other.post(collectionsHost, '/v6.0/b2b/keys/renew', {
        serviceTicket: await other.token(),
        Key: old,
      });
    const renewed = (await renewal(key)).body.key;
    expect(decodePayload(renewed).exp).toBe(startTime / 1000 + 59 * 86_400);
    expect(decodePayload(renewed)[toClaimName('userId')]).toBe('the user');
    await other.advance('P2D');
    expect(await renewal(key)).toMatchObject({ status: 401 });
    expect((await renewal(renewed)).status).toBe(200);
    await other.close();
  });

  it('opens only its own service, and only to the application that it was made for', async () => {
    const { id } = (await user.buy({ productId: 'own service' })).body;
    const key = await user.key('collections', id);
    const path = '/v8.0/b2b/recurrences/query';
    const refused = { status: 401, body: { innererror: { code: 'AuthenticationTokenInvalid' } } };
    expect(await user.post(purchaseHost, path, { b2bKey: key })).toMatchObject(refused);
    const forged = `${(await user.key('purchase', id)).slice(0, -8)}AAAAAAAA`;
    expect(await user.post(purchaseHost, path, { b2bKey: forged })).toMatchObject(refused);
    const noToken = await user.call(`/${purchaseHost}${path}`, {
      method: 'POST',
      body: JSON.stringify({ b2bKey: key }),
    });
    expect(noToken).toMatchObject({ status: 401, body: { innererror: { code: 'PartnerAadTicketRequired' } } });
  });
});
