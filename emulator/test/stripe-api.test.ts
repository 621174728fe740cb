import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import type Stripe from 'stripe';
import { describeWithVectors, readVector } from '../../testing/vectors.ts';
import { type EmulatorClient, startEmulatorClient, startTime } from './emulator-client.ts';
import { createStripeClient, placeStripeOrder, toSeconds } from './stripe-client.ts';

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
  it('returns pages that the official client iterates, newest first', async () => {
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

  it('omits canceled subscriptions unless the status is all', async () => {
    const { id, customerId: customer } = await placeStripeOrder(client);
    await client.act(id, 'expire');
    expect((await stripe.subscriptions.list({ customer })).data).toEqual([]);
    expect((await stripe.subscriptions.list({ customer, status: 'all' })).data).toMatchObject([
      { id, status: 'canceled' },
    ]);
  });

  it('returns products by id', async () => {
    const { id } = await stripe.products.create({ name: 'Listed' });
    expect((await stripe.products.list({ ids: [id, 'prod_none'] })).data.map((product) => product.id)).toEqual([id]);
  });
});

describe('expand of the emulated Stripe API', () => {
  it('replaces ids by objects in lists', async () => {
    const { id, customerId: customer } = await placeStripeOrder(client);
    const { data } = await stripe.subscriptions.list({ customer, expand: ['data.latest_invoice', 'data.customer'] });
    expect(data).toMatchObject([
      { id, latest_invoice: { object: 'invoice', status: 'paid' }, customer: { id: customer } },
    ]);
    expect((await stripe.subscriptions.retrieve(id)).latest_invoice).toEqual(expect.stringMatching(/^in_/));
  });

  it('adds includable members', async () => {
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

describe('checkout session of the emulated Stripe API', () => {
  const urls = { success_url: 'https://a.example/ok', cancel_url: 'https://a.example/no' };
  const createPrices = async () => {
    const product = (await stripe.products.create({ name: 'Product' })).id;
    const once = (await stripe.prices.create({ product, currency: 'usd', unit_amount: 100 })).id;
    const monthly = (
      await stripe.prices.create({ product, currency: 'usd', unit_amount: 100, recurring: { interval: 'month' } })
    ).id;
    return { once, monthly };
  };

  it('rejects a mode that does not match the price', async () => {
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

  it('accepts one payment through the control API', async () => {
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

  it('rejects a payment after its expiration', async () => {
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

const items = ['b', 'c', 'd'].map((productId) => ({ productId, priceMicros: 1_000_000 }));
const setLength = (listLength: number) => client.control('PUT', '/control/accounts/processor_a', { listLength });

/** Buys a subscription with four items. */
async function buyFour() {
  client.clock.set(startTime);
  return await placeStripeOrder(client, { productId: 'a', priceMicros: 1_000_000, items });
}

describe('embedded list of the emulated Stripe', () => {
  it('contains ten elements at most', async () => {
    const many = Array.from({ length: 10 }, (_, index) => ({ productId: `many${index}`, priceMicros: 1_000_000 }));
    const { id } = await placeStripeOrder(client, { productId: 'many', priceMicros: 1_000_000, items: many });
    const { items: embedded } = await stripe.subscriptions.retrieve(id);
    expect(embedded.data).toHaveLength(10);
    expect(embedded.has_more).toBe(true);
    expect((await stripe.subscriptionItems.list({ subscription: id, limit: 100 })).data).toHaveLength(11);
  });

  it('ends at the length that the account sets, and its endpoint returns the rest', async () => {
    const { id, sessionId } = await buyFour();
    await setLength(2);
    const subscription = await stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] });
    const invoice = subscription.latest_invoice as Stripe.Invoice;
    const session = await stripe.checkout.sessions.retrieve(sessionId, { expand: ['line_items'] });
    for (const list of [subscription.items, invoice.lines, session.line_items]) {
      expect(list?.data).toHaveLength(2);
      expect(list?.has_more).toBe(true);
    }
    const [firstLine] = invoice.lines.data;
    const complete = {
      items: await stripe.subscriptionItems.list({ subscription: id, limit: 3 }).autoPagingToArray({ limit: 10 }),
      lines: await stripe.invoices.listLineItems(invoice.id, { limit: 3 }).autoPagingToArray({ limit: 10 }),
      lineItems: await stripe.checkout.sessions.listLineItems(sessionId, { limit: 3 }).autoPagingToArray({ limit: 10 }),
    };
    expect(Object.values(complete).map(({ length }) => length)).toEqual([4, 4, 4]);
    expect(complete.lines[0]?.id).toBe(firstLine?.id);
    await setLength(10);
  });

  it('ends at that length in pages and in events, too', async () => {
    const { id, charges } = await buyFour();
    for (const amountMicros of [100_000, 200_000, 300_000]) await client.act(id, 'refund', { amountMicros });
    await setLength(2);
    const [charge] = charges;
    const page = await stripe.charges.list({ limit: 1, expand: ['data.refunds'] });
    expect(page.data[0]).toMatchObject({
      id: charge,
      refunds: { has_more: true, data: [{ amount: 30 }, { amount: 20 }] },
    });
    const refunds = await stripe.refunds.list({ charge }).autoPagingToArray({ limit: 10 });
    expect(refunds.map(({ amount }) => amount)).toEqual([30, 20, 10]);
    const { body } = await client.act(id, 'cancel');
    expect(body.notifications[0].data?.object ?? body.notifications[0]).toMatchObject({ items: { has_more: true } });
    await setLength(10);
  });

  it('limits the pages of lists to ten times that length', async () => {
    for (let index = 0; index < 11; index++) await stripe.customers.create({ email: 'many@example.com' });
    await setLength(1);
    const page = await stripe.customers.list({ email: 'many@example.com', limit: 100 });
    expect([page.data.length, page.has_more]).toEqual([10, true]);
    await setLength(10);
  });
});

describe('lines of an invoice of the emulated Stripe', () => {
  it('lists the pending invoice items, the latest first, and then the subscription items', async () => {
    const { id } = await placeStripeOrder(client, { productId: 'a', priceMicros: 1_000_000 });
    for (const priceMicros of [5_000_000, 6_000_000]) await client.act(id, 'invoice-item', { priceMicros });
    await client.act(id, 'change-plan', { productId: 'bigger', priceMicros: 2_000_000, deferred: true });
    await client.act(id, 'renew');
    const { latest_invoice } = await stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] });
    const { lines, billing_reason } = latest_invoice as Stripe.Invoice;
    expect(billing_reason).toBe('subscription_cycle');
    expect(lines.data.map(({ amount }) => amount)).toEqual([-100, 200, 600, 500, 200]);
    expect(lines.data.map(({ parent }) => parent?.subscription_item_details?.proration)).toEqual([
      true,
      true,
      undefined,
      undefined,
      false,
    ]);
  });
});

describe('PUT /control/accounts', () => {
  it('returns the settings and the problem, and rejects settings of other stores', async () => {
    const path = '/control/accounts/processor_a';
    expect((await client.control('PUT', path, { failedPayments: 'past_due' })).body).toMatchObject({
      platform: 'processor_a',
      problem: null,
      failedPayments: 'past_due',
    });
    expect((await client.control('PUT', path, {})).status).toBe(400);
    expect((await client.control('PUT', path, { failedPayments: 'never' })).status).toBe(400);
    const { status } = await client.control('PUT', '/control/accounts/store_c', { failedPayments: 'unpaid' });
    expect(status).toBe(422);
  });
});

/** Lists the latest events. */
// biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
async function listEvents(count: number): Promise<any[]> {
  return (await client.control('GET', '/control')).body.notifications.slice(-count);
}

describe('changes through the emulated Stripe API', () => {
  it('pauses a subscription and resumes it with a new period', async () => {
    const { id } = await placeStripeOrder(client);
    const paused = await stripe.subscriptions.pause(id);
    expect(paused).toMatchObject({
      status: 'paused',
      status_details: { paused: { transitioned_at: toSeconds(startTime), subscription: { type: 'pause_requested' } } },
    });
    expect(await listEvents(2)).toMatchObject([
      { type: 'customer.subscription.updated', data: { previous_attributes: { status: 'active' } } },
      { type: 'customer.subscription.paused', data: { object: { id, status: 'paused' } } },
    ]);
    await client.advance('P2M');
    const resumed = await stripe.subscriptions.resume(id, { expand: ['latest_invoice'] });
    const at = Math.floor(toSeconds(client.clock.now()));
    expect(resumed).toMatchObject({
      status: 'active',
      items: { data: [{ current_period_start: at }] },
      latest_invoice: { status: 'paid' },
    });
    expect(resumed).not.toHaveProperty('status_details');
    expect((await listEvents(4)).map(({ type }) => type)).toEqual([
      'payment_intent.succeeded',
      'invoice.paid',
      'customer.subscription.updated',
      'customer.subscription.resumed',
    ]);
    await expect(stripe.subscriptions.resume(id)).rejects.toMatchObject({ statusCode: 400 });
  });

  it('names the API request that caused an event', async () => {
    const { id } = await placeStripeOrder(client);
    const { lastResponse } = await stripe.subscriptions.update(
      id,
      { cancel_at_period_end: true },
      { idempotencyKey: 'cancel once' },
    );
    expect(await listEvents(1)).toMatchObject([
      {
        type: 'customer.subscription.updated',
        request: { id: lastResponse.requestId, idempotency_key: 'cancel once' },
      },
    ]);
  });

  it('emits events for changed products and prices', async () => {
    const product = await stripe.products.create({ name: 'Gold' });
    const price = await stripe.prices.create({ product: product.id, currency: 'usd', unit_amount: 100 });
    expect((await listEvents(2)).map(({ type }) => type)).toEqual(['product.created', 'price.created']);
    expect(await stripe.prices.update(price.id, { active: false })).toMatchObject({ active: false, unit_amount: 100 });
    expect(await stripe.products.update(product.id, { name: 'Old gold' })).toMatchObject({
      name: 'Old gold',
      active: true,
    });
    expect(await listEvents(2)).toMatchObject([
      { type: 'price.updated', data: { object: { active: false }, previous_attributes: { active: true } } },
      { type: 'product.updated', data: { object: { name: 'Old gold' }, previous_attributes: { name: 'Gold' } } },
    ]);
    expect((await stripe.prices.list({ product: product.id, active: true })).data).toEqual([]);
    await expect(stripe.prices.update('price_none', { active: false })).rejects.toMatchObject({
      code: 'resource_missing',
    });
  });

  it.each(['by a request', 'after a day'])('emits an event for a checkout session that expires %s', async (cause) => {
    await placeStripeOrder(client);
    const [price] = (await stripe.prices.list({ product: 'plan' })).data;
    const session = await stripe.checkout.sessions.create({
      mode: 'subscription',
      line_items: [{ price: price?.id ?? '', quantity: 1 }],
      success_url: 'https://a.example/ok',
    });
    if (cause === 'by a request') await stripe.checkout.sessions.expire(session.id);
    else await client.advance('P1D');
    expect(await listEvents(1)).toMatchObject([
      { type: 'checkout.session.expired', data: { object: { id: session.id, status: 'expired', url: null } } },
    ]);
  });

  it('contains the previous attributes of a refunded charge', async () => {
    const { id, charges } = await placeStripeOrder(client);
    await stripe.refunds.create({ charge: charges[0], amount: 100 });
    expect(await listEvents(1)).toMatchObject([
      { purchaseId: id, type: 'charge.refunded', data: { previous_attributes: { amount_refunded: 0 } } },
    ]);
  });
});

/** Fetches one object of every type from the emulator. */
async function fetchObjects(client: EmulatorClient): Promise<Record<string, Record<string, unknown>>> {
  const { id, sessionId, charges, customerId: customer } = await placeStripeOrder(client);
  const other = await placeStripeOrder(client, { productId: 'coins', type: 'consumable' });
  await client.act(id, 'refund');
  await client.act(other.id, 'revoke');
  const stripe = createStripeClient(client);
  const portal = await stripe.billingPortal.sessions.create({ customer, return_url: 'https://a.example/' });
  const headers = { authorization: `Bearer ${client.settings('processor_a').secretKey}` };
  const get = async (path: string) => (await client.call(`/api.stripe.com/v1/${path}`, { headers })).body;
  const session = await get(`checkout/sessions/${sessionId}?expand[]=line_items`);
  const invoice = (await get(`invoices?subscription=${id}&expand[]=data.payments`)).data[0];
  const subscription = await get(`subscriptions/${id}`);
  const {
    platform: _platform,
    purchaseId: _id,
    at: _at,
    ...event
  } = (await client.control('GET', '/control')).body.notifications.at(-1);
  return {
    'billing_portal.session': portal as unknown as Record<string, unknown>,
    charge: await get(`charges/${charges[0]}?expand[]=refunds`),
    'checkout.session': session,
    customer: await get(`customers/${customer}`),
    event,
    dispute: (await get(`disputes?charge=${other.charges[0]}`)).data[0],
    invoice,
    invoice_payment: invoice.payments.data[0],
    item: session.line_items.data[0],
    line_item: invoice.lines.data[0],
    payment_intent: await get(`payment_intents/${other.id}`),
    price: subscription.items.data[0].price,
    product: await get('products/plan'),
    refund: (await get(`refunds?charge=${charges[0]}`)).data[0],
    subscription,
    subscription_item: subscription.items.data[0],
  };
}

/** Members of the official samples that the official types do not have any longer. */
const removedMembers = new Set(['subscription']);

const getJsonType = (value: unknown): string =>
  Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value;

/** Lists the members that are missing or have another type than in the sample. Null matches any type. */
function listDifferences(sample: Record<string, unknown>, object: Record<string, unknown>): string[] {
  return Object.entries(sample).flatMap(([member, value]) => {
    if (!(member in object)) return removedMembers.has(member) ? [] : [`${member} is missing`];
    const [expected, actual] = [getJsonType(value), getJsonType(object[member])];
    return expected === 'null' || actual === 'null' || expected === actual
      ? []
      : [`${member}: ${actual} instead of ${expected}`];
  });
}

describeWithVectors('objects of the emulated Stripe API', () => {
  it('includes all members of the official samples', async () => {
    const client = await startEmulatorClient();
    const objects = await fetchObjects(client);
    await client.close();
    const results = Object.entries(objects).map(([name, object]) => {
      const sample = JSON.parse(readVector('stripe', 'fixtures', `${name}.json`).toString('utf8'));
      expect(object.object).toBe(sample.object);
      return [name, listDifferences(sample, object)] as const;
    });
    expect(Object.fromEntries(results.filter(([, differences]) => differences.length > 0))).toEqual({});
    expect(results).toHaveLength(16);
  });
});

describe('the emulated Stripe API', () => {
  it('keeps all objects over a restart', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'emulator-'));
    const stateFile = join(folder, 'state.json');
    const first = await startEmulatorClient({ stateFile });
    const before = await fetchObjects(first);
    const settings = first.settings('processor_a');
    await first.close();
    const second = await startEmulatorClient({ stateFile });
    const stripe = createStripeClient(second);
    expect(second.settings('processor_a')).toEqual(settings);
    const subscription = await stripe.subscriptions.retrieve(String(before.subscription?.id));
    expect(subscription).toMatchObject({ status: 'active', customer: before.customer?.id });
    expect((await second.act(subscription.id, 'renew')).status).toBe(200);
    await second.close();
    await rm(folder, { recursive: true });
  });

  test.each([
    ['down', 500, 'api_error'],
    ['rate-limited', 429, 'invalid_request_error'],
  ])('returns the error of the API for the fault %s', async (fault, status, type) => {
    const client = await startEmulatorClient();
    await client.addFault({ platform: 'processor_a', fault });
    const { body, status: actualStatus } = await client.call('/api.stripe.com/v1/products');
    await client.close();
    expect({ actualStatus, body }).toMatchObject({ actualStatus: status, body: { error: { type } } });
  });
});
