import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { decodePayload, type EmulatorClient, startEmulatorClient } from './emulator-client.ts';

let user: EmulatorClient;
beforeAll(async () => {
  user = await startEmulatorClient();
});
afterAll(() => user.close());

describe('a purchase', () => {
  it('comes with the very body that a client posts to have it validated', async () => {
    const { status, body } = await user.buy({ applicationUsername: 'user-42' });
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

  it('of nobody in particular names nobody', async () => {
    expect((await user.buy()).body.validate).not.toHaveProperty('additionalData');
  });

  test.each([
    ['receipt', { id: 'com.example.app', type: 'application', transaction: { type: 'ios-appstore' } }],
    ['product', { id: 'monthly', type: 'paid subscription', transaction: { type: 'apple-sk2', id: 'monthly' } }],
    ['product-receipt', { id: 'monthly', type: 'paid subscription', transaction: { type: 'ios-appstore' } }],
    [
      'download',
      { id: 'com.example.app', type: 'application', transaction: { type: 'apple-sk2', id: 'com.example.app' } },
    ],
  ])('can be put in the form %s', async (form, validate) => {
    const { body } = await user.buy({ form });
    expect(body.validate).toMatchObject(validate);
    const shown = await user.control('GET', `/control/purchases/${body.id}?form=${form}`);
    expect(shown.body).toMatchObject({ id: body.id, state: 'ACTIVE', validate });
  });

  it('has the terms that it is bought on', async () => {
    const terms = { productId: 'gold', period: 'P1Y', priceMicros: 49_990_000, currency: 'EUR', sandbox: true };
    const { body } = await user.buy(terms);
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
  ])('can be a %s', async (type, native) => {
    const { body } = await user.buy({ productId: `a ${type}`, type });
    const payload = decodePayload(body.validate.transaction.jwsRepresentation);
    expect(payload).toMatchObject({ type: native, originalTransactionId: body.id });
    expect(payload).not.toHaveProperty('expiresDate');
    expect(body.state).toBe('PURCHASED');
    expect((await user.act(body.id, 'renew')).status).toBe(422);
    expect((await user.act(body.id, 'refund')).body.state).toBe('REVOKED');
  });

  it('that does not renew says how long its period is, which the store does not know', async () => {
    const season = { productId: 'season', type: 'non renewing subscription', period: 'P3M', form: 'product' };
    const billing = { billingPeriod: 3, billingPeriodUnit: 'Month' };
    expect((await user.buy(season)).body.validate).toMatchObject({ id: 'season', ...billing });
    expect((await user.buy(season)).body.validate).toMatchObject(billing);
  });

  it('is known to the store under its brand too', async () => {
    expect(await user.buy({ platform: 'apple' })).toMatchObject({ status: 200, body: { platform: 'store_a' } });
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
  ])('that orders %j is refused', async (order, status, word) => {
    expect(await user.buy(order)).toMatchObject({ status, body: { status, message: expect.stringContaining(word) } });
  });
});

describe('an action', () => {
  test.each(['pause', 'resume', 'fly', 'toString'])('that the store does not know is refused: %s', async (action) => {
    const { id } = (await user.buy()).body;
    expect(await user.act(id, action)).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining(action) },
    });
  });

  it('on a purchase that does not exist is refused', async () => {
    expect(await user.act('123', 'renew')).toMatchObject({
      status: 404,
      body: { message: expect.stringContaining('123') },
    });
  });

  test.each([
    ['change-plan', 'productId'],
    ['share', 'applicationUsername'],
  ])('%s without %s is refused', async (action, missing) => {
    const { id } = (await user.buy()).body;
    expect(await user.act(id, action)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining(missing) },
    });
  });

  it('answers with the purchase as it is then, fresh evidence, and what the store notifies', async () => {
    const { id } = (await user.buy()).body;
    const { body } = await user.act(id, 'renew');
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
