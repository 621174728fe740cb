import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, test } from '@jest/globals';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { startEmulatorClient } from './emulator-client.ts';
import {
  buildBeneficiary,
  collectionsHost,
  decodePayload,
  onestoreUrl,
  purchaseHost,
  startMicrosoftStoreClient,
  startTime,
  toClaimName,
} from './microsoft-store-client-app.ts';

const client = startBeforeAll(startMicrosoftStoreClient);

const own = { applicationUsername: 'collector' };

async function query(path: string, purchaseId: string, more: object = {}) {
  return await client.post(collectionsHost, path, {
    beneficiaries: [await buildBeneficiary(client.key, purchaseId)],
    ...more,
  });
}

describe('collection of a customer (Microsoft Store)', () => {
  let id: string;
  beforeAll(async () => {
    id = (await client.buy({ productId: 'app', type: 'non consumable', ...own })).body.id;
    await client.buy({ productId: 'coins', type: 'consumable', ...own });
    await client.buy({ productId: 'gems', type: 'consumable', quantity: 3, ...own });
    await client.buy({ productId: 'pass', type: 'non renewing subscription', period: 'P1W', ...own });
    await client.buy({ productId: 'monthly', ...own });
    await client.buy({ productId: 'tested', type: 'non consumable', sandbox: true, ...own });
    await client.buy({ productId: 'of another', type: 'non consumable', applicationUsername: 'another' });
  });

  const toProductIds = (items: { productId: string }[]): string[] => items.map(({ productId }) => productId);

  test.each([
    ['/v6.0/collections/query', {}, ['app', 'coins', 'gems', 'pass', 'monthly']],
    ['/v6.0/collections/query', { productTypes: ['Consumable'] }, ['gems']],
    ['/v8.0/collections/b2bLicensePreview', { entitlementFilters: ['*:Durable'] }, ['app', 'pass', 'monthly']],
    ['/v8.0/collections/b2bLicensePreview', { sbx: 'XDKS.1' }, ['tested']],
    [
      '/v9.0/collections/PublisherQuery',
      { productSkuIds: [{ productId: 'gems' }, { productId: 'app' }] },
      ['app', 'gems'],
    ],
    ['/v9.0/collections/PublisherQuery', { productSkuIds: [{ productId: 'of another' }] }, []],
  ])('returns the matching items of %s with %j', async (path, more, expected) => {
    const { status, body } = await query(path, id, more);
    expect({ status, products: toProductIds(body.items) }).toEqual({ status: 200, products: expected });
  });

  it('returns pages', async () => {
    const productIds: string[] = [];
    let continuationToken: string | undefined;
    do {
      const { body } = await query('/v6.0/collections/query', id, { maxPageSize: 2, continuationToken });
      productIds.push(...toProductIds(body.items));
      continuationToken = body.continuationToken;
    } while (continuationToken !== undefined);
    expect(productIds).toEqual(['app', 'coins', 'gems', 'pass', 'monthly']);
  });

  it('returns the documented members in version 9', async () => {
    const productSkuIds = ['app', 'gems', 'pass', 'monthly'].map((productId) => ({ productId }));
    const { items } = (await query('/v9.0/collections/PublisherQuery', id, { productSkuIds })).body;
    expect(items).toMatchObject([
      { id, productKind: 'Durable', status: 'Active', quantity: 1, endDate: '9999-12-31T23:59:59.9999999+00:00' },
      { productKind: 'Consumable', quantity: 3, acquisitionType: 'Single' },
      { productKind: 'Durable', endDate: '2027-02-07T10:00:00.0000000+00:00' },
      { productKind: 'Durable', acquisitionType: 'Recurring', recurrenceId: expect.stringMatching(/^mdr:0:/) },
    ]);
  });

  it('requires products in version 9 and one customer in every version', async () => {
    const invalid = { status: 400, body: { code: 'BadRequest', innererror: { code: 'InvalidParameter' } } };
    expect(await query('/v9.0/collections/PublisherQuery', id)).toMatchObject(invalid);
    const nobody = { beneficiaries: [], productSkuIds: [{ productId: 'app' }] };
    expect(await query('/v9.0/collections/PublisherQuery', id, nobody)).toMatchObject(invalid);
    expect(await query('/v6.0/collections/query', id, { continuationToken: 'x' })).toMatchObject(invalid);
  });
});

describe('item of the Microsoft Store', () => {
  it('expires at its end', async () => {
    const secondClient = await startMicrosoftStoreClient();
    const { id } = (await secondClient.buy({ productId: 'week', type: 'non renewing subscription', period: 'P1W' }))
      .body;
    await secondClient.advance('P8D');
    expect((await secondClient.items(id, 'week')).body.items).toMatchObject([{ status: 'Expired' }]);
    expect((await secondClient.items(id, 'week', { validityType: 'Valid' })).body.items).toEqual([]);
    expect((await secondClient.items(id, 'week', { validityType: 'Invalid' })).body.items).toHaveLength(1);
    expect(await secondClient.buy({ productId: 'week', type: 'non renewing subscription' })).toMatchObject({
      status: 200,
    });
    await secondClient.close();
  });

  it('changes to Revoked after a refund, which the orders query returns', async () => {
    const { id } = (await client.buy({ productId: 'refunded', type: 'non consumable' })).body;
    const orders = async (more: object = {}) =>
      (await client.post(purchaseHost, '/v8.0/b2b/orders/query', { b2bKey: await client.key('purchase', id), ...more }))
        .body.items;
    expect(await orders()).toEqual([]);
    expect(await orders({ lineItemStateFilter: ['Purchased'] })).toHaveLength(1);
    expect(await client.act(id, 'refund')).toMatchObject({
      status: 200,
      body: { state: 'Revoked', notifications: [] },
    });
    expect((await client.items(id, 'refunded')).body.items).toMatchObject([{ status: 'Revoked' }]);
    expect(await orders()).toMatchObject([
      { orderRefundedDate: expect.any(String), orderLineItems: [{ productId: 'refunded', lineItemState: 'Refunded' }] },
    ]);
    expect(await client.act(id, 'refund')).toMatchObject({ status: 422 });
  });

  it('expires early only if it has an end', async () => {
    const { id } = (await client.buy({ productId: 'ended', type: 'non renewing subscription' })).body;
    expect(await client.act(id, 'expire')).toMatchObject({ status: 200, body: { state: 'Expired' } });
    expect(await client.act(id, 'expire')).toMatchObject({ status: 422 });
    const { id: forEver } = (await client.buy({ productId: 'for ever', type: 'non consumable' })).body;
    for (const action of ['expire', 'renew', 'cancel']) {
      expect(await client.act(forEver, action)).toMatchObject({ status: 422 });
    }
    await client.act(forEver, 'refund');
    expect(await client.act(forEver, 'revoke')).toMatchObject({ status: 422 });
  });

  it('returns the remaining time of a trial', async () => {
    const { id } = (await client.buy({ productId: 'trial', type: 'non consumable', trial: 'P1W' })).body;
    expect((await client.items(id, 'trial')).body.items).toMatchObject([
      { trialData: { isTrial: true, isInTrialPeriod: true, trialTimeRemaining: '7.00:00:00' } },
    ]);
  });
});

describe('consumable of the Microsoft Store', () => {
  const consume = async (id: string, productId: string, more: object = {}) =>
    client.post(collectionsHost, '/v8.0/collections/consume', {
      beneficiary: await buildBeneficiary(client.key, id),
      productId,
      trackingId: randomUUID(),
      ...more,
    });

  it('rejects another purchase before fulfillment if it is developer-managed', async () => {
    const order = { productId: 'lives', type: 'consumable', applicationUsername: 'gamer' };
    const { id } = (await client.buy(order)).body;
    expect(await client.buy(order)).toMatchObject({ status: 422 });
    expect(await consume(id, 'lives', { removeQuantity: 1 })).toMatchObject({ status: 400 });
    expect(await consume(id, 'lives')).toMatchObject({
      status: 200,
      body: { itemId: id, newQuantity: 0, productId: 'lives' },
    });
    expect((await client.items(id, 'lives')).body.items).toEqual([]);
    expect(await consume(id, 'lives')).toMatchObject({ status: 404 });
    expect(await client.buy(order)).toMatchObject({ status: 200 });
  });

  it('changes its balance once per tracking id if it is store-managed', async () => {
    const order = { productId: 'points', type: 'consumable', quantity: 5, applicationUsername: 'gamer' };
    const { id } = (await client.buy(order)).body;
    expect((await client.buy(order)).body).toMatchObject({ id, quantity: 10 });
    const request = { removeQuantity: 4, trackingId: randomUUID(), includeOrderIds: true };
    for (const _try of [1, 2]) {
      expect((await consume(id, 'points', request)).body).toMatchObject({
        newQuantity: 6,
        trackingId: request.trackingId,
        orderTransactions: [{ quantityConsumed: 4 }],
      });
    }
    expect(await consume(id, 'points', { removeQuantity: 7 })).toMatchObject({ status: 400 });
    expect((await client.items(id, 'points')).body.items).toMatchObject([{ quantity: 6 }]);
  });

  it('names the orders that the consumption of a store-managed balance used, also in a repetition', async () => {
    const order = { productId: 'packs', type: 'consumable', quantity: 5, applicationUsername: 'collector' };
    const { id } = (await client.buy(order)).body;
    const { transactionId: first } = (await client.items(id, 'packs')).body.items[0];
    await client.buy(order);
    const { transactionId: second } = (await client.items(id, 'packs')).body.items[0];
    const trackingId = randomUUID();
    for (const _try of [1, 2]) {
      const { body } = await consume(id, 'packs', { removeQuantity: 7, trackingId, includeOrderIds: true });
      expect(body).toMatchObject({
        newQuantity: 3,
        orderTransactions: [
          { orderId: first, quantityConsumed: 5 },
          { orderId: second, quantityConsumed: 2 },
        ],
      });
    }
    const last = await consume(id, 'packs', { removeQuantity: 3, includeOrderIds: true });
    expect(last.body.orderTransactions).toMatchObject([{ orderId: second, quantityConsumed: 3 }]);
  });

  it('accepts a refund after consumption', async () => {
    const { id } = (await client.buy({ productId: 'used up', type: 'consumable' })).body;
    await consume(id, 'used up');
    expect(await client.act(id, 'refund')).toMatchObject({ status: 200 });
    const query = { b2bKey: await client.key('purchase', id) };
    const { items } = (await client.post(purchaseHost, '/v8.0/b2b/orders/query', query)).body;
    expect(items).toMatchObject([{ orderLineItems: [{ lineItemState: 'Revoked' }] }]);
  });
});

let tenantId: string;
beforeAll(() => {
  tenantId = String(client.settings('store_c').tenantId);
});

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

describe('control API of the Microsoft Store', () => {
  it('returns the settings, and validate bodies in each form', async () => {
    expect(client.settings('store_c')).toEqual({
      tenantId: expect.any(String),
      clientId: expect.any(String),
      clientSecret: expect.any(String),
      sandboxId: 'XDKS.1',
    });
    const { id } = (await client.buy({ productId: 'forms', applicationUsername: 'Ann' })).body;
    const form = async (name: string) =>
      (await client.control('GET', `/control/purchases/${id}?form=${name}`)).body.validate;
    const key = expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(await form('keys')).toMatchObject({
      id: 'forms',
      type: 'paid subscription',
      transaction: { type: 'store_c-transaction', storeId: 'forms' },
      license: { storeIdKey_purchases: key },
      additionalData: { applicationUsername: 'Ann' },
      billingPeriod: 1,
      billingPeriodUnit: 'Month',
    });
    expect((await form('both')).license).toEqual({ storeIdKey_collections: key, storeIdKey_purchases: key });
    expect(await form('brand')).toMatchObject({
      transaction: { type: 'windows-store-transaction' },
      license: { storeIdKey_purchase: key },
    });
    expect(await form('ticket')).not.toHaveProperty('license');
    expect(await client.control('GET', `/control/purchases/${id}?form=receipt`)).toMatchObject({ status: 400 });
  });

  test.each([
    ['down', 503, 'ServiceUnavailable'],
    ['rate-limited', 429, 'TooManyRequests'],
  ])('returns the documented error for the fault %s', async (fault, status, code) => {
    const body = { b2bKey: 'key' };
    const headers = { authorization: `Bearer ${await client.token()}` };
    await client.addFault({ fault });
    const path = `/${purchaseHost}/v8.0/b2b/recurrences/query`;
    const result = await client.call(path, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(result).toMatchObject({ status, body: { code } });
  });

  it('keeps customers, subscriptions and keys over a restart', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'microsoft-store-'));
    const stateFile = join(folder, 'state.json');
    const before = await startEmulatorClient({ stateFile });
    const { id } = (await before.buy({ platform: 'store_c' })).body;
    await before.act(id, 'cancel');
    const { clientSecret } = before.settings('store_c');
    await before.close();
    const after = await startEmulatorClient({ stateFile });
    expect(after.settings('store_c').clientSecret).toBe(clientSecret);
    expect((await after.control('GET', `/control/purchases/${id}`)).body).toMatchObject({ autoRenew: false });
    await after.close();
    await rm(folder, { recursive: true });
  });
});
