import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import type Stripe from 'stripe';
import { type EmulatorClient, startEmulatorClient } from './emulator-client.ts';
import { boughtFrom, ownerOf } from './stripe-client.ts';

let user: EmulatorClient;
let stripe: Stripe;
beforeAll(async () => {
  user = await startEmulatorClient();
  stripe = ownerOf(user);
});
afterAll(() => user.close());

const key = () => ({ authorization: `Bearer ${user.settings('processor_a').secretKey}` });
const raw = async (path: string, init: RequestInit = {}) =>
  await user.call(`/api.stripe.com${path}`, { ...init, headers: { ...key(), ...init.headers } });
const form = { 'content-type': 'application/x-www-form-urlencoded' };

describe('a call', () => {
  test.each([
    ['without a key', {}],
    ['with another key', { authorization: 'Bearer sk_live_wrong' }],
    ['with an empty key', { authorization: 'Bearer ' }],
  ])('%s is refused', async (_what, headers) => {
    const { status, body } = await user.call('/api.stripe.com/v1/products', { headers });
    expect({ status, body }).toMatchObject({ status: 401, body: { error: { type: 'invalid_request_error' } } });
  });

  it('may carry its key as the name of basic authentication', async () => {
    const basic = Buffer.from(`${user.settings('processor_a').secretKey}:`).toString('base64');
    expect(
      (await user.call('/api.stripe.com/v1/products', { headers: { authorization: `Basic ${basic}` } })).status,
    ).toBe(200);
  });

  test.each([
    ['an id that nobody has', '/v1/prices/price_none', 404, { code: 'resource_missing' }],
    ['a path that is none', '/v1/unheard_of', 404, {}],
    ['a parameter that is none', '/v1/prices?colour=red', 400, { code: 'parameter_unknown', param: 'colour' }],
    ['a page that is too long', '/v1/prices?limit=101', 400, { param: 'limit' }],
    ['an expansion of nothing', '/v1/prices?expand[]=data.colour', 400, { param: 'expand' }],
    ['an expansion that is too deep', '/v1/subscriptions?expand[]=data.items.data.price.product', 400, {}],
  ])('for %s is answered as the API does', async (_what, path, status, error) => {
    await boughtFrom(user);
    expect(await raw(path)).toMatchObject({ status, body: { error: { type: 'invalid_request_error', ...error } } });
  });

  test.each([
    ['JSON instead of a form', { 'content-type': 'application/json' }, '{"name":"x"}'],
    ['a field missing', form, 'description=x'],
    ['a field that is none', form, 'name=x&colour=red'],
  ])('with %s creates nothing', async (_what, headers, body) => {
    expect((await raw('/v1/products', { method: 'POST', headers, body })).status).toBe(400);
  });

  it('is done once for an idempotency key, which is for one call only', async () => {
    const headers = { ...form, 'idempotency-key': 'once' };
    const create = async (body: string) => await raw('/v1/products', { method: 'POST', headers, body });
    const [first, second] = [await create('name=one'), await create('name=one')];
    expect(second.body.id).toBe(first.body.id);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect((await create('name=two')).body.error.type).toBe('idempotency_error');
  });
});

it('refuses a change of plan to another currency in the words of the API', async () => {
  const { id } = await boughtFrom(user);
  const [item] = (await stripe.subscriptions.retrieve(id)).items.data;
  const yen = { product: 'plan', currency: 'jpy', unit_amount: 500, recurring: { interval: 'month' } } as const;
  const price = (await stripe.prices.create(yen)).id;
  const change = stripe.subscriptions.update(id, { items: [{ id: String(item?.id), price }] });
  await expect(change).rejects.toMatchObject({ type: 'StripeInvalidRequestError', statusCode: 400 });
});

it('tells of a new product and of its price', async () => {
  const { id: product } = await stripe.products.create({ name: 'Told' });
  const { id } = await stripe.prices.create({ product, currency: 'usd', unit_amount: 100 });
  const { notifications } = (await user.control('GET', '/control')).body;
  expect(notifications.slice(-2)).toMatchObject([
    { type: 'product.created', data: { object: { id: product } } },
    { type: 'price.created', data: { object: { id } } },
  ]);
});

describe('a list', () => {
  it('comes in pages, newest first, which the official client follows', async () => {
    const made: string[] = [];
    for (let count = 0; count < 25; count++)
      made.push((await stripe.customers.create({ email: 'paged@example.com' })).id);
    const all = await stripe.customers
      .list({ email: 'paged@example.com', limit: 10 })
      .autoPagingToArray({ limit: 100 });
    expect(all.map(({ id }) => id)).toEqual(made.reverse());
    const page = await stripe.customers.list({ email: 'paged@example.com', limit: 2, starting_after: String(made[3]) });
    expect(page).toMatchObject({ has_more: true, data: [{ id: made[4] }, { id: made[5] }] });
    const before = await stripe.customers.list({
      email: 'paged@example.com',
      limit: 2,
      ending_before: String(made[3]),
    });
    expect(before.data.map(({ id }) => id)).toEqual(made.slice(1, 3));
  });

  it('of subscriptions leaves out what has ended, unless asked for all', async () => {
    const { id, customerId: customer } = await boughtFrom(user);
    await user.act(id, 'expire');
    expect((await stripe.subscriptions.list({ customer })).data).toEqual([]);
    expect((await stripe.subscriptions.list({ customer, status: 'all' })).data).toMatchObject([
      { id, status: 'canceled' },
    ]);
  });

  it('of products takes ids', async () => {
    const { id } = await stripe.products.create({ name: 'Named' });
    expect((await stripe.products.list({ ids: [id, 'prod_none'] })).data.map((product) => product.id)).toEqual([id]);
  });
});

describe('an expansion', () => {
  it('puts objects in the place of ids, in lists, too', async () => {
    const { id, customerId: customer } = await boughtFrom(user);
    const { data } = await stripe.subscriptions.list({ customer, expand: ['data.latest_invoice', 'data.customer'] });
    expect(data).toMatchObject([
      { id, latest_invoice: { object: 'invoice', status: 'paid' }, customer: { id: customer } },
    ]);
    expect((await stripe.subscriptions.retrieve(id)).latest_invoice).toEqual(expect.stringMatching(/^in_/));
  });

  it('adds what an object holds only when asked', async () => {
    const { id, sessionId, charges } = await boughtFrom(user);
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

describe('a checkout', () => {
  const urls = { success_url: 'https://a.example/ok', cancel_url: 'https://a.example/no' };
  const prices = async () => {
    const product = (await stripe.products.create({ name: 'Sold' })).id;
    const once = (await stripe.prices.create({ product, currency: 'usd', unit_amount: 100 })).id;
    const monthly = (
      await stripe.prices.create({ product, currency: 'usd', unit_amount: 100, recurring: { interval: 'month' } })
    ).id;
    return { once, monthly };
  };

  it('that does not fit its price is refused', async () => {
    const { once, monthly } = await prices();
    const create = async (mode: 'payment' | 'subscription', price: string, more: object = {}) =>
      await stripe.checkout.sessions.create({ mode, line_items: [{ price, quantity: 1 }], ...urls, ...more });
    await expect(create('payment', monthly)).rejects.toMatchObject({ statusCode: 400 });
    await expect(create('subscription', once)).rejects.toMatchObject({ statusCode: 400 });
    await expect(create('payment', once, { subscription_data: { metadata: { a: '1' } } })).rejects.toMatchObject({
      param: 'subscription_data',
    });
    await expect(create('payment', once, { customer: 'cus_none' })).rejects.toMatchObject({ code: 'resource_missing' });
    await expect(create('payment', once, { success_url: 'nowhere' })).rejects.toMatchObject({ param: 'success_url' });
  });

  it('is paid through the control API once', async () => {
    const { once } = await prices();
    const { id } = await stripe.checkout.sessions.create({
      mode: 'payment',
      line_items: [{ price: once, quantity: 2 }],
      ...urls,
    });
    const paid = await user.control('POST', `/control/checkouts/${id}/pay`);
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
    expect((await user.control('POST', `/control/checkouts/${id}/pay`)).status).toBe(422);
    expect((await user.control('POST', '/control/checkouts/cs_none/pay')).status).toBe(404);
  });

  it('that expired cannot be paid any more', async () => {
    const { once } = await prices();
    const { id } = await stripe.checkout.sessions.create({
      mode: 'payment',
      line_items: [{ price: once, quantity: 1 }],
      ...urls,
    });
    expect((await stripe.checkout.sessions.expire(id)).status).toBe('expired');
    expect((await user.control('POST', `/control/checkouts/${id}/pay`)).status).toBe(422);
  });
});
