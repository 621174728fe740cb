import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { decodePayload, type EmulatorClient, startEmulatorClient } from './emulator-client.ts';

let client: EmulatorClient;
beforeAll(async () => {
  client = await startEmulatorClient();
});
afterAll(() => client.close());

describe('POST /control/purchases', () => {
  it('returns the body that a client posts to /v1/validate', async () => {
    const { status, body } = await client.buy({ applicationUsername: 'user-42' });
    expect(status).toBe(200);
    expect(body.validate).toEqual({
      id: 'com.example.app',
      type: 'application',
      transaction: { type: 'apple-sk2', id: 'monthly', jwsRepresentation: expect.any(String) },
      additionalData: { applicationUsername: 'user-42', obfuscatedUsername: '7631bc07-a1cc-3fcd-86e7-0fc6b2fb4a43' },
    });
    expect(decodePayload(body.validate.transaction.jwsRepresentation)).toMatchObject({
      transactionId: body.id,
      environment: 'Production',
      price: 4990,
      currency: 'USD',
      expiresDate: Date.parse('2027-02-28T10:00:00Z'),
    });
  });

  it('omits the customer if the order does not have a username', async () => {
    expect((await client.buy()).body.validate).not.toHaveProperty('additionalData');
  });

  test.each([
    ['receipt', { id: 'com.example.app', type: 'application', transaction: { type: 'ios-appstore' } }],
    ['product', { id: 'monthly', type: 'paid subscription', transaction: { type: 'apple-sk2', id: 'monthly' } }],
    ['product-receipt', { id: 'monthly', type: 'paid subscription', transaction: { type: 'ios-appstore' } }],
    [
      'download',
      { id: 'com.example.app', type: 'application', transaction: { type: 'apple-sk2', id: 'com.example.app' } },
    ],
  ])('returns the validate body in the form %s', async (form, validate) => {
    const { body } = await client.buy({ form });
    expect(body.validate).toMatchObject(validate);
    const response = await client.control('GET', `/control/purchases/${body.id}?form=${form}`);
    expect(response.body).toMatchObject({ id: body.id, state: 'ACTIVE', validate });
  });

  it('applies the terms of the order', async () => {
    const terms = { productId: 'gold', period: 'P1Y', priceMicros: 49_990_000, currency: 'EUR', sandbox: true };
    const { body } = await client.buy(terms);
    expect(body).toMatchObject({ sandbox: true, expiresDate: '2028-01-31T10:00:00.000Z' });
    expect(decodePayload(body.validate.transaction.jwsRepresentation)).toMatchObject({
      environment: 'Sandbox',
      price: 49990,
      currency: 'EUR',
      storefront: 'DEU',
    });
  });

  test.each([
    ['consumable', 'Consumable'],
    ['non consumable', 'Non-Consumable'],
    ['non renewing subscription', 'Non-Renewing Subscription'],
  ])('creates a %s', async (type, native) => {
    const { body } = await client.buy({ productId: `a ${type}`, type });
    const payload = decodePayload(body.validate.transaction.jwsRepresentation);
    expect(payload).toMatchObject({ type: native, originalTransactionId: body.id });
    expect(payload).not.toHaveProperty('expiresDate');
    expect(body.state).toBe('PURCHASED');
    expect((await client.act(body.id, 'renew')).status).toBe(422);
    expect((await client.act(body.id, 'refund')).body.state).toBe('REVOKED');
  });

  it('returns the period of a non-renewing subscription, because the store does not have it', async () => {
    const season = { productId: 'season', type: 'non renewing subscription', period: 'P3M', form: 'product' };
    const billing = { billingPeriod: 3, billingPeriodUnit: 'Month' };
    expect((await client.buy(season)).body.validate).toMatchObject({ id: 'season', ...billing });
    expect((await client.buy(season)).body.validate).toMatchObject(billing);
  });

  it('accepts the brand name of a store', async () => {
    expect(await client.buy({ platform: 'apple' })).toMatchObject({ status: 200, body: { platform: 'store_a' } });
  });

  test.each([
    [{ platform: 'store_x' }, 400, 'platform'],
    [{ type: 'gift' }, 400, 'type'],
    [{ productId: '' }, 400, 'productId'],
    [{ period: '1 month' }, 400, 'period'],
    [{ priceMicros: 1.5 }, 400, 'priceMicros'],
    [{ currency: 'dollars' }, 400, 'currency'],
    [{ colour: 'red' }, 400, 'colour'],
    [{ form: 'letter' }, 400, 'form'],
    [{ trial: true, intro: true }, 400, 'trial'],
    [{ productId: 'bar', type: 'consumable', trial: true }, 422, 'subscriptions'],
    [{ productId: 'monthly', period: 'P1Y' }, 422, 'exists already'],
  ])('rejects the order %j', async (order, status, text) => {
    expect(await client.buy(order)).toMatchObject({ status, body: { status, message: expect.stringContaining(text) } });
  });
});

describe('POST /control/purchases/{id}/{action}', () => {
  test.each(['pause', 'resume', 'fly', 'toString'])('rejects the unsupported action %s', async (action) => {
    const { id } = (await client.buy()).body;
    expect(await client.act(id, action)).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining(action) },
    });
  });

  it('rejects an action on a missing purchase', async () => {
    expect(await client.act('123', 'renew')).toMatchObject({
      status: 404,
      body: { message: expect.stringContaining('123') },
    });
  });

  test.each([
    ['change-plan', 'productId'],
    ['share', 'applicationUsername'],
  ])('rejects %s without %s', async (action, missing) => {
    const { id } = (await client.buy()).body;
    expect(await client.act(id, action)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining(missing) },
    });
  });

  it('returns the changed purchase, new evidence and the notifications of the store', async () => {
    const { id } = (await client.buy()).body;
    const { body } = await client.act(id, 'renew');
    expect(body).toMatchObject({ id, state: 'ACTIVE', transactions: 2, expiresDate: '2027-03-31T10:00:00.000Z' });
    expect(decodePayload(body.validate.transaction.jwsRepresentation).transactionId).toBe(body.transactionId);
    expect(body.notifications).toEqual([
      {
        platform: 'store_a',
        purchaseId: id,
        at: '2027-01-31T10:00:00.000Z',
        notificationType: 'DID_RENEW',
        environment: 'Production',
      },
    ]);
  });
});
