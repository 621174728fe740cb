import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type Stripe from 'stripe';
import { type EmulatorClient, startEmulatorClient, startTime } from './emulator-client.ts';
import { createStripeClient, placeStripeOrder } from './stripe-client.ts';

let client: EmulatorClient;
let stripe: Stripe;
beforeAll(async () => {
  client = await startEmulatorClient();
  stripe = createStripeClient(client);
});
afterAll(() => client.close());

const items = ['b', 'c', 'd'].map((productId) => ({ productId, priceMicros: 1_000_000 }));
const setLength = (listLength: number) => client.control('PUT', '/control/accounts/processor_a', { listLength });

/** Buys a subscription with four items. */
async function buyFour() {
  client.clock.set(startTime);
  return await placeStripeOrder(client, { productId: 'a', priceMicros: 1_000_000, items });
}

describe('embedded lists of the emulated Stripe', () => {
  it('have ten elements at most', async () => {
    const many = Array.from({ length: 10 }, (_, index) => ({ productId: `many${index}`, priceMicros: 1_000_000 }));
    const { id } = await placeStripeOrder(client, { productId: 'many', priceMicros: 1_000_000, items: many });
    const { items: embedded } = await stripe.subscriptions.retrieve(id);
    expect(embedded.data).toHaveLength(10);
    expect(embedded.has_more).toBe(true);
    expect((await stripe.subscriptionItems.list({ subscription: id, limit: 100 })).data).toHaveLength(11);
  });

  it('are cut at the length of the account, and their endpoints return the rest', async () => {
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

  it('are cut in pages and in events, too', async () => {
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

  it('limit the pages of lists to ten times their length', async () => {
    for (let index = 0; index < 11; index++) await stripe.customers.create({ email: 'many@example.com' });
    await setLength(1);
    const page = await stripe.customers.list({ email: 'many@example.com', limit: 100 });
    expect([page.data.length, page.has_more]).toEqual([10, true]);
    await setLength(10);
  });
});

describe('the lines of an invoice at the emulated Stripe', () => {
  it('are the pending invoice items, the latest first, and then the subscription items', async () => {
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
