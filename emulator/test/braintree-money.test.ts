import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type EmulatorClient, startEmulatorClient, startTime } from './emulator-client.ts';

let client: EmulatorClient;
beforeAll(async () => {
  client = await startEmulatorClient();
});
beforeEach(async () => {
  client.clock.set(startTime);
  await client.reset();
});
afterAll(() => client.close());

const callGateway = async (method: string, path: string, body?: object) => {
  const { merchantId, publicKey, privateKey } = client.settings('processor_b') as Record<string, string>;
  return await client.call(`/api.sandbox.braintreegateway.com/merchants/${merchantId}/${path}`, {
    method,
    headers: { authorization: `Basic ${Buffer.from(`${publicKey}:${privateKey}`).toString('base64')}` },
    ...(body && { body: JSON.stringify(body) }),
  });
};

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

describe('a plan change of the emulated Braintree', () => {
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

describe('a discount of the emulated Braintree', () => {
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

describe('the transactions of a subscription at the emulated Braintree', () => {
  it('are the latest twenty, or fewer by the setting of the account', async () => {
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

describe('the tax of the emulated Braintree', () => {
  it('is contained in the amount of each transaction', async () => {
    const id = await subscribe({ taxRate: 25 });
    expect(await read()).toContain('<tax-amount>2.00</tax-amount>');
    expect((await show(id)).payments).toMatchObject([{ amountMicros: 10_000_000, taxMicros: 2_000_000 }]);
  });
});
