import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type Stripe from 'stripe';
import { type EmulatorClient, startEmulatorClient } from './emulator-client.ts';
import { createStripeClient, placeStripeOrder } from './stripe-client.ts';

let client: EmulatorClient;
let stripe: Stripe;
beforeAll(async () => {
  client = await startEmulatorClient();
  stripe = createStripeClient(client);
});
afterAll(() => client.close());

const buildAuth = () => ({ authorization: `Bearer ${client.settings('processor_a').secretKey}` });
const callApi = async (path: string, init: RequestInit = {}) =>
  await client.call(`/api.stripe.com${path}`, { ...init, headers: { ...buildAuth(), ...init.headers } });
const formHeaders = { 'content-type': 'application/x-www-form-urlencoded' };

describe('the emulated Stripe API', () => {
  it.each([
    ['without a key', {}],
    ['with another key', { authorization: 'Bearer sk_live_wrong' }],
    ['with an empty key', { authorization: 'Bearer ' }],
  ])('rejects a request %s', async (_case, headers) => {
    const { status, body } = await client.call('/api.stripe.com/v1/products', { headers });
    expect({ status, body }).toMatchObject({ status: 401, body: { error: { type: 'invalid_request_error' } } });
  });

  it('accepts the key as the username of basic authentication', async () => {
    const basic = Buffer.from(`${client.settings('processor_a').secretKey}:`).toString('base64');
    expect(
      (await client.call('/api.stripe.com/v1/products', { headers: { authorization: `Basic ${basic}` } })).status,
    ).toBe(200);
  });

  it.each([
    ['an unknown id', '/v1/prices/price_none', 404, { code: 'resource_missing' }],
    ['an unknown path', '/v1/unknown', 404, {}],
    ['an unknown parameter', '/v1/prices?colour=red', 400, { code: 'parameter_unknown', param: 'colour' }],
    ['a page size above 100', '/v1/prices?limit=101', 400, { param: 'limit' }],
    ['an expansion of an unknown member', '/v1/prices?expand[]=data.colour', 400, { param: 'expand' }],
    ['an expansion of more than four levels', '/v1/subscriptions?expand[]=data.items.data.price.product', 400, {}],
  ])('returns the error of the API for %s', async (_case, path, status, error) => {
    await placeStripeOrder(client);
    expect(await callApi(path)).toMatchObject({ status, body: { error: { type: 'invalid_request_error', ...error } } });
  });

  it.each([
    ['JSON instead of a form', { 'content-type': 'application/json' }, '{"name":"x"}'],
    ['a missing field', formHeaders, 'description=x'],
    ['an unknown field', formHeaders, 'name=x&colour=red'],
  ])('rejects the creation of an object with %s', async (_case, headers, body) => {
    expect((await callApi('/v1/products', { method: 'POST', headers, body })).status).toBe(400);
  });

  it('replays the response for an idempotency key', async () => {
    const headers = { ...formHeaders, 'idempotency-key': 'once' };
    const create = async (body: string) => await callApi('/v1/products', { method: 'POST', headers, body });
    const [first, second] = [await create('name=one'), await create('name=one')];
    expect(second.body.id).toBe(first.body.id);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect((await create('name=two')).body.error.type).toBe('idempotency_error');
  });
});

describe('writes of the emulated Stripe API', () => {
  it('rejects a plan change to another currency', async () => {
    const { id } = await placeStripeOrder(client);
    const [item] = (await stripe.subscriptions.retrieve(id)).items.data;
    const yen = { product: 'plan', currency: 'jpy', unit_amount: 500, recurring: { interval: 'month' } } as const;
    const price = (await stripe.prices.create(yen)).id;
    const change = stripe.subscriptions.update(id, { items: [{ id: String(item?.id), price }] });
    await expect(change).rejects.toMatchObject({ type: 'StripeInvalidRequestError', statusCode: 400 });
  });

  it('emits events for a new product and its price', async () => {
    const { id: product } = await stripe.products.create({ name: 'New' });
    const { id } = await stripe.prices.create({ product, currency: 'usd', unit_amount: 100 });
    const { notifications } = (await client.control('GET', '/control')).body;
    expect(notifications.slice(-2)).toMatchObject([
      { type: 'product.created', data: { object: { id: product } } },
      { type: 'price.created', data: { object: { id } } },
    ]);
  });
});

describe('lists of the emulated Stripe API', () => {
  it('return pages that the official client iterates, newest first', async () => {
    const created: string[] = [];
    for (let count = 0; count < 25; count++)
      created.push((await stripe.customers.create({ email: 'paged@example.com' })).id);
    const all = await stripe.customers
      .list({ email: 'paged@example.com', limit: 10 })
      .autoPagingToArray({ limit: 100 });
    expect(all.map(({ id }) => id)).toEqual(created.reverse());
    const page = await stripe.customers.list({
      email: 'paged@example.com',
      limit: 2,
      starting_after: String(created[3]),
    });
    expect(page).toMatchObject({ has_more: true, data: [{ id: created[4] }, { id: created[5] }] });
    const before = await stripe.customers.list({
      email: 'paged@example.com',
      limit: 2,
      ending_before: String(created[3]),
    });
    expect(before.data.map(({ id }) => id)).toEqual(created.slice(1, 3));
  });

  it('exclude canceled subscriptions unless the status is all', async () => {
    const { id, customerId: customer } = await placeStripeOrder(client);
    await client.act(id, 'expire');
    expect((await stripe.subscriptions.list({ customer })).data).toEqual([]);
    expect((await stripe.subscriptions.list({ customer, status: 'all' })).data).toMatchObject([
      { id, status: 'canceled' },
    ]);
  });

  it('return products by id', async () => {
    const { id } = await stripe.products.create({ name: 'Listed' });
    expect((await stripe.products.list({ ids: [id, 'prod_none'] })).data.map((product) => product.id)).toEqual([id]);
  });
});

describe('expansions of the emulated Stripe API', () => {
  it('replace ids by objects in lists', async () => {
    const { id, customerId: customer } = await placeStripeOrder(client);
    const { data } = await stripe.subscriptions.list({ customer, expand: ['data.latest_invoice', 'data.customer'] });
    expect(data).toMatchObject([
      { id, latest_invoice: { object: 'invoice', status: 'paid' }, customer: { id: customer } },
    ]);
    expect((await stripe.subscriptions.retrieve(id)).latest_invoice).toEqual(expect.stringMatching(/^in_/));
  });

  it('add includable members', async () => {
    const { id, sessionId, charges } = await placeStripeOrder(client);
    const plain = await stripe.checkout.sessions.retrieve(sessionId);
    expect(plain).not.toHaveProperty('line_items');
    const sold = await stripe.checkout.sessions.retrieve(sessionId, { expand: ['line_items'] });
    expect(sold.line_items?.data).toMatchObject([{ quantity: 1, price: { product: 'plan' } }]);
    await stripe.refunds.create({ charge: charges[0], amount: 100 });
    const charge = await stripe.charges.retrieve(charges[0], { expand: ['refunds'] });
    expect(charge).toMatchObject({ refunded: false, amount_refunded: 100, refunds: { data: [{ amount: 100 }] } });
    const invoices = await stripe.invoices.list({ subscription: id, expand: ['data.payments'] });
    expect(invoices.data).toMatchObject([
      { payments: { data: [{ payment: { payment_intent: charge.payment_intent } }] } },
    ]);
  });
});

describe('checkout sessions of the emulated Stripe API', () => {
  const urls = { success_url: 'https://a.example/ok', cancel_url: 'https://a.example/no' };
  const createPrices = async () => {
    const product = (await stripe.products.create({ name: 'Product' })).id;
    const once = (await stripe.prices.create({ product, currency: 'usd', unit_amount: 100 })).id;
    const monthly = (
      await stripe.prices.create({ product, currency: 'usd', unit_amount: 100, recurring: { interval: 'month' } })
    ).id;
    return { once, monthly };
  };

  it('reject a mode that does not match the price', async () => {
    const { once, monthly } = await createPrices();
    const create = async (mode: 'payment' | 'subscription', price: string, params: object = {}) =>
      await stripe.checkout.sessions.create({ mode, line_items: [{ price, quantity: 1 }], ...urls, ...params });
    await expect(create('payment', monthly)).rejects.toMatchObject({ statusCode: 400 });
    await expect(create('subscription', once)).rejects.toMatchObject({ statusCode: 400 });
    await expect(create('payment', once, { subscription_data: { metadata: { a: '1' } } })).rejects.toMatchObject({
      param: 'subscription_data',
    });
    await expect(create('payment', once, { customer: 'cus_none' })).rejects.toMatchObject({ code: 'resource_missing' });
    await expect(create('payment', once, { success_url: 'nowhere' })).rejects.toMatchObject({ param: 'success_url' });
  });

  it('can be paid once through the control API', async () => {
    const { once } = await createPrices();
    const { id } = await stripe.checkout.sessions.create({
      mode: 'payment',
      line_items: [{ price: once, quantity: 2 }],
      ...urls,
    });
    const paid = await client.control('POST', `/control/checkouts/${id}/pay`);
    expect(paid).toMatchObject({
      status: 200,
      body: {
        sessionId: id,
        state: 'paid',
        notifications: [{ type: 'payment_intent.succeeded' }, { type: 'checkout.session.completed' }],
      },
    });
    expect(await stripe.paymentIntents.retrieve(paid.body.id)).toMatchObject({
      amount_received: 200,
      status: 'succeeded',
    });
    expect((await client.control('POST', `/control/checkouts/${id}/pay`)).status).toBe(422);
    expect((await client.control('POST', '/control/checkouts/cs_none/pay')).status).toBe(404);
  });

  it('cannot be paid after their expiration', async () => {
    const { once } = await createPrices();
    const { id } = await stripe.checkout.sessions.create({
      mode: 'payment',
      line_items: [{ price: once, quantity: 1 }],
      ...urls,
    });
    expect((await stripe.checkout.sessions.expire(id)).status).toBe('expired');
    expect((await client.control('POST', `/control/checkouts/${id}/pay`)).status).toBe(422);
  });
});
