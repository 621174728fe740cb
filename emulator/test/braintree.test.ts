import { beforeEach, describe, expect, it } from '@jest/globals';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { startEmulatorClient, startTime } from './emulator-client.ts';

const host = 'api.sandbox.braintreegateway.com';

const client = startBeforeAll(startEmulatorClient);
beforeEach(async () => {
  client.clock.set(startTime);
  await client.reset();
});

const settings = () => client.settings('processor_b') as Record<string, string>;
const basic = (key: string, secret: string) => `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}`;

/** Sends a request in the format of the official client. */
const callGateway = async (method: string, path: string, body?: object) =>
  await client.call(`/${host}/merchants/${settings().merchantId}/${path}`, {
    method,
    headers: { authorization: basic(settings().publicKey ?? '', settings().privateKey ?? '') },
    ...(body && { body: JSON.stringify(body) }),
  });

const createSale = (changes: object = {}) =>
  callGateway('POST', 'transactions', {
    transaction: {
      type: 'sale',
      amount: '4.99',
      payment_method_nonce: 'fake-valid-nonce',
      options: { submit_for_settlement: true },
      ...changes,
    },
  });

const extractId = (body: string): string => /<id>([^<]+)<\/id>/.exec(body)?.[1] ?? '';
const buy = async (order: object = {}) =>
  (await client.buy({ platform: 'processor_b', productId: 'tip_jar', type: 'consumable', ...order })).body;

describe('the emulated Braintree gateway', () => {
  it('accepts a test nonce repeatedly', async () => {
    for (const _attempt of [1, 2]) expect((await createSale()).status).toBe(201);
  });

  it('accepts a generated nonce once', async () => {
    const { id } = await buy();
    expect((await createSale({ payment_method_nonce: id })).status).toBe(201);
    const { status, body } = await createSale({ payment_method_nonce: id });
    expect(status).toBe(422);
    expect(body).toContain('<code>91564</code>');
  });

  it('creates the purchase when the nonce is used', async () => {
    const order = await buy();
    expect(order).toMatchObject({ state: 'nonce', validate: { transaction: { paymentMethodNonce: order.id } } });
    expect((await client.act(order.id, 'refund')).status).toBe(422);
    await createSale({ payment_method_nonce: order.id });
    expect((await client.control('GET', `/control/purchases/${order.id}`)).body.state).toBe('submitted_for_settlement');
  });

  it('replays the response for an API request key', async () => {
    const [first, second] = [
      await createSale({ api_request_key: 'key' }),
      await createSale({ api_request_key: 'key' }),
    ];
    expect(extractId(second.body)).toBe(extractId(first.body));
  });

  it('rejects a duplicate within 30 seconds', async () => {
    const created = await callGateway('POST', 'customers', { customer: { id: 'twice' } });
    expect(created.status).toBe(201);
    await createSale({ order_id: 'same', customer_id: 'twice' });
    const { body } = await createSale({ order_id: 'same', customer_id: 'twice' });
    expect(body).toContain('<gateway-rejection-reason>duplicate</gateway-rejection-reason>');
    await client.advance('PT31S');
    expect((await createSale({ order_id: 'same', customer_id: 'twice' })).status).toBe(201);
  });

  it('finds payments by order id', async () => {
    const id = extractId((await createSale({ order_id: 'order-1' })).body);
    const { body } = await callGateway('POST', 'transactions/advanced_search_ids', {
      search: { order_id: { is: 'order-1' } },
    });
    expect(body).toContain(`<ids type="array"><item>${id}</item></ids>`);
  });

  it('voids unsettled payments and refunds settled payments', async () => {
    const id = extractId((await createSale()).body);
    expect((await callGateway('POST', `transactions/${id}/refund`)).body).toContain('<code>91506</code>');
    await client.advance('P1D');
    expect((await callGateway('PUT', `transactions/${id}/void`)).body).toContain('<code>91504</code>');
    expect((await callGateway('POST', `transactions/${id}/refund`)).body).toContain('<type>credit</type>');
  });

  it('declines the test amounts of the sandbox', async () => {
    const { status, body } = await createSale({ amount: '2001.00' });
    expect(status).toBe(422);
    expect(body).toContain('<processor-response-code>2001</processor-response-code>');
  });

  it('rejects wrong keys and another merchant', async () => {
    const path = `/${host}/merchants/${settings().merchantId}/plans`;
    expect((await client.call(path)).status).toBe(401);
    const authorization = basic(settings().publicKey ?? '', settings().privateKey ?? '');
    expect((await client.call(`/${host}/merchants/other/plans`, { headers: { authorization } })).status).toBe(403);
  });

  it('rejects weekly plans', async () => {
    const order = { platform: 'processor_b', productId: 'weekly', type: 'paid subscription', period: 'P1W' };
    expect((await client.buy(order)).status).toBe(422);
  });

  it('rejects unsupported actions', async () => {
    const { id } = await buy();
    expect((await client.act(id, 'pause')).status).toBe(422);
  });

  it('renews a subscription automatically and returns the kinds of its webhooks', async () => {
    const { id } = await buy({ productId: 'monthly', type: 'paid subscription', autoRenew: true });
    await callGateway('POST', 'customers', { customer: { id: 'sub' } });
    await callGateway('POST', 'payment_methods', {
      payment_method: { customer_id: 'sub', payment_method_nonce: id, token: 'card' },
    });
    const subscription = { id: 'mine', payment_method_token: 'card', plan_id: 'monthly' };
    await callGateway('POST', 'subscriptions', { subscription });
    await client.advance('P2M');
    await client.advance('P1D');
    expect((await callGateway('GET', 'subscriptions/mine')).body).toContain(
      '<current-billing-cycle type="integer">3</current-billing-cycle>',
    );
    const { body } = await client.act(id, 'cancel');
    expect(body).toMatchObject({ state: 'Canceled', notifications: [{ kind: 'subscription_canceled' }] });
  });
});

/** Buys a monthly subscription for 10.00 and subscribes its customer. Returns the id of the purchase. */
async function subscribe(order: object = {}): Promise<string> {
  const body = { platform: 'processor_b', productId: 'pro', priceMicros: 10_000_000, ...order };
  const { id } = (await client.buy(body)).body;
  await callGateway('POST', 'customers', { customer: { id: 'customer' } });
  await callGateway('POST', 'payment_methods', {
    payment_method: { customer_id: 'customer', payment_method_nonce: id, token: 'card' },
  });
  const subscription = { id: 'mine', payment_method_token: 'card', plan_id: 'pro' };
  const { status } = await callGateway('POST', 'subscriptions', { subscription });
  expect(status).toBe(201);
  return id;
}

const show = async (id: string) => (await client.control('GET', `/control/purchases/${id}`)).body;
const read = async (): Promise<string> => (await callGateway('GET', 'subscriptions/mine')).body;
const count = (body: string, text: string): number => body.split(text).length - 1;

describe('plan change of the emulated Braintree', () => {
  it('charges the rest of the period, which keeps its dates', async () => {
    const id = await subscribe();
    const before = /<paid-through-date[^>]*>[^<]+/.exec(await read())?.[0];
    await client.advance('P14D');
    const { body } = await client.act(id, 'change-plan', { productId: 'premium', priceMicros: 20_000_000 });
    expect(body.notifications).toMatchObject([{ kind: 'subscription_charged_successfully' }]);
    const [first, second] = body.payments;
    expect(second).toMatchObject({ periodStart: first.periodStart, periodEnd: first.periodEnd });
    expect(second.amountMicros).toBeGreaterThan(4_000_000);
    expect(second.amountMicros).toBeLessThan(6_000_000);
    const view = await read();
    expect(view).toContain(String(before));
    expect(view).toContain('<current-billing-cycle type="integer">1</current-billing-cycle>');
    expect(view).toContain('<plan-id>premium</plan-id>');
  });

  it('credits a downgrade to the next charge', async () => {
    const id = await subscribe();
    await client.act(id, 'change-plan', { productId: 'basic', priceMicros: 5_000_000 });
    await client.act(id, 'renew');
    expect(await show(id)).toMatchObject({ productId: 'basic', lines: [{ productId: 'basic' }] });
    expect((await show(id)).payments).toHaveLength(1);
    await client.act(id, 'renew');
    expect((await show(id)).payments[1]).toMatchObject({ amountMicros: 5_000_000 });
  });
});

describe('discount of the emulated Braintree', () => {
  it('makes the first periods free, without a transaction', async () => {
    const id = await subscribe({ freeCycles: 2 });
    await client.act(id, 'renew');
    const view = await read();
    expect(view).toContain('<status>Active</status>');
    expect(view).toContain('<transactions type="array"></transactions>');
    expect(view).toContain('<number-of-billing-cycles type="integer">2</number-of-billing-cycles>');
    await client.act(id, 'renew');
    expect((await show(id)).payments).toMatchObject([{ amountMicros: 10_000_000 }]);
  });
});

describe('renewal with a discount at the emulated Braintree', () => {
  it('makes one later period free', async () => {
    const id = await subscribe();
    await client.act(id, 'renew', { free: true });
    expect(await read()).toContain('<current-billing-cycle type="integer">1</current-billing-cycle>');
    expect((await show(id)).payments).toHaveLength(1);
    await client.act(id, 'renew');
    expect((await show(id)).payments).toHaveLength(2);
  });
});

describe('transactions in a subscription of the emulated Braintree', () => {
  it('contains the latest twenty, or fewer by the setting of the account', async () => {
    const id = await subscribe();
    for (let renewals = 0; renewals < 21; renewals++) await client.act(id, 'renew');
    expect(count(await read(), '<transaction>')).toBe(20);
    await client.control('PUT', '/control/accounts/processor_b', { listLength: 2 });
    const ids = [...(await read()).matchAll(/<transaction><id>([^<]+)/g)].map(([, transaction]) => transaction);
    const { payments } = await show(id);
    expect(ids).toEqual(
      payments
        .slice(-2)
        .reverse()
        .map((payment: { id: string }) => payment.id),
    );
  });
});

describe('taxRate of the emulated Braintree', () => {
  it('includes the tax in the amount of each transaction', async () => {
    const id = await subscribe({ taxRate: 25 });
    expect(await read()).toContain('<tax-amount>2.00</tax-amount>');
    expect((await show(id)).payments).toMatchObject([{ amountMicros: 10_000_000, taxMicros: 2_000_000 }]);
  });
});
