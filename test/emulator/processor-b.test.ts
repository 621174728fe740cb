import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type EmulatorClient, startEmulatorClient } from './emulator-client.ts';

const host = 'api.sandbox.braintreegateway.com';

let user: EmulatorClient;
beforeAll(async () => {
  user = await startEmulatorClient();
});
afterAll(() => user.close());

const settings = () => user.settings('processor_b') as Record<string, string>;
const basic = (key: string, secret: string) => `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}`;

/** A call as the official client makes it. */
const ask = async (method: string, path: string, body?: object) =>
  await user.call(`/${host}/merchants/${settings().merchantId}/${path}`, {
    method,
    headers: { authorization: basic(settings().publicKey ?? '', settings().privateKey ?? '') },
    ...(body && { body: JSON.stringify(body) }),
  });

const sale = (changes: object = {}) =>
  ask('POST', 'transactions', {
    transaction: {
      type: 'sale',
      amount: '4.99',
      payment_method_nonce: 'fake-valid-nonce',
      options: { submit_for_settlement: true },
      ...changes,
    },
  });

const idOf = (body: string): string => /<id>([^<]+)<\/id>/.exec(body)?.[1] ?? '';
const buy = async (order: object = {}) =>
  (await user.buy({ platform: 'processor_b', productId: 'tip_jar', type: 'consumable', ...order })).body;

it('sells to a test nonce as often as is asked', async () => {
  for (const _time of [1, 2]) expect((await sale()).status).toBe(201);
});

it('takes a nonce of its own once', async () => {
  const { id } = await buy();
  expect((await sale({ payment_method_nonce: id })).status).toBe(201);
  const { status, body } = await sale({ payment_method_nonce: id });
  expect(status).toBe(422);
  expect(body).toContain('<code>91564</code>');
});

it('buys nothing before the nonce is used', async () => {
  const bought = await buy();
  expect(bought).toMatchObject({ state: 'nonce', validate: { transaction: { paymentMethodNonce: bought.id } } });
  expect((await user.act(bought.id, 'refund')).status).toBe(422);
  await sale({ payment_method_nonce: bought.id });
  expect((await user.control('GET', `/control/purchases/${bought.id}`)).body.state).toBe('submitted_for_settlement');
});

it('gives the first answer again for a request key', async () => {
  const [first, second] = [await sale({ api_request_key: 'key' }), await sale({ api_request_key: 'key' })];
  expect(idOf(second.body)).toBe(idOf(first.body));
});

it('rejects a duplicate within 30 seconds', async () => {
  const created = await ask('POST', 'customers', { customer: { id: 'twice' } });
  expect(created.status).toBe(201);
  await sale({ order_id: 'same', customer_id: 'twice' });
  const { body } = await sale({ order_id: 'same', customer_id: 'twice' });
  expect(body).toContain('<gateway-rejection-reason>duplicate</gateway-rejection-reason>');
  await user.advance('PT31S');
  expect((await sale({ order_id: 'same', customer_id: 'twice' })).status).toBe(201);
});

it('finds payments by their order', async () => {
  const id = idOf((await sale({ order_id: 'wanted' })).body);
  const { body } = await ask('POST', 'transactions/advanced_search_ids', { search: { order_id: { is: 'wanted' } } });
  expect(body).toContain(`<ids type="array"><item>${id}</item></ids>`);
});

it('voids what has not settled and refunds what has', async () => {
  const id = idOf((await sale()).body);
  expect((await ask('POST', `transactions/${id}/refund`)).body).toContain('<code>91506</code>');
  await user.advance('P1D');
  expect((await ask('PUT', `transactions/${id}/void`)).body).toContain('<code>91504</code>');
  expect((await ask('POST', `transactions/${id}/refund`)).body).toContain('<type>credit</type>');
});

it('declines the amounts that the sandbox declines', async () => {
  const { status, body } = await sale({ amount: '2001.00' });
  expect(status).toBe(422);
  expect(body).toContain('<processor-response-code>2001</processor-response-code>');
});

it('knows its merchant only by the right keys', async () => {
  const path = `/${host}/merchants/${settings().merchantId}/plans`;
  expect((await user.call(path)).status).toBe(401);
  const authorization = basic(settings().publicKey ?? '', settings().privateKey ?? '');
  expect((await user.call(`/${host}/merchants/other/plans`, { headers: { authorization } })).status).toBe(403);
});

it('does not bill by the week', async () => {
  const order = { platform: 'processor_b', productId: 'weekly', type: 'paid subscription', period: 'P1W' };
  expect((await user.buy(order)).status).toBe(422);
});

it('knows no action that the gateway does not', async () => {
  const { id } = await buy();
  expect((await user.act(id, 'pause')).status).toBe(422);
});

it('bills a subscription by itself where it renews, and tells the kinds of its webhooks', async () => {
  const { id } = await buy({ productId: 'monthly', type: 'paid subscription', autoRenew: true });
  await ask('POST', 'customers', { customer: { id: 'sub' } });
  await ask('POST', 'payment_methods', {
    payment_method: { customer_id: 'sub', payment_method_nonce: id, token: 'card' },
  });
  const subscription = { id: 'mine', payment_method_token: 'card', plan_id: 'monthly' };
  await ask('POST', 'subscriptions', { subscription });
  await user.advance('P2M');
  expect((await ask('GET', 'subscriptions/mine')).body).toContain(
    '<current-billing-cycle type="integer">3</current-billing-cycle>',
  );
  const { body } = await user.act(id, 'cancel');
  expect(body).toMatchObject({ state: 'Canceled', notifications: [{ kind: 'subscription_canceled' }] });
});
