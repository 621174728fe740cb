import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type Stripe from 'stripe';
import { dayMs } from '../calendar.ts';
import { type EmulatorClient, startEmulatorClient, startTime } from './emulator-client.ts';
import { monthEnd } from './random-histories.ts';
import { createStripeClient, placeStripeOrder, runSubscription, toSeconds } from './stripe-client.ts';

let client: EmulatorClient;
let stripe: Stripe;
beforeAll(async () => {
  client = await startEmulatorClient();
  stripe = createStripeClient(client);
});
afterAll(() => client.close());

const show = async (id: string) => (await client.control('GET', `/control/purchases/${id}`)).body;

describe('an emailed subscription of the emulated Stripe', () => {
  const order = { collection: 'send_invoice', daysUntilDue: 15 };

  it('is active with an open invoice that has a due date, and without a charge', async () => {
    const { id, subscription, invoice } = await runSubscription(client, [], order);
    expect(subscription).toMatchObject({ status: 'active', collection_method: 'send_invoice', days_until_due: 15 });
    expect(invoice).toMatchObject({
      status: 'open',
      collection_method: 'send_invoice',
      due_date: toSeconds(startTime + 15 * dayMs),
      attempted: false,
      next_payment_attempt: null,
    });
    expect(await show(id)).toMatchObject({ payments: [], invoices: [{ status: 'open' }] });
    expect((await stripe.checkout.sessions.list({ subscription: id })).data).toEqual([]);
  });

  it('is past due after the due date until the customer pays', async () => {
    const { id, subscription } = await runSubscription(client, ['P15D'], order);
    expect(subscription.status).toBe('past_due');
    await client.act(id, 'pay');
    expect(await stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] })).toMatchObject({
      status: 'active',
      latest_invoice: { status: 'paid', amount_paid: 499 },
    });
  });

  it('emails an invoice for each period', async () => {
    const { id } = await runSubscription(client, ['P3D', ['pay'], 'P2M'], { ...order, autoRenew: true });
    const { data } = await stripe.invoices.list({ subscription: id });
    expect(data.map(({ status }) => status)).toEqual(['open', 'open', 'paid']);
    expect((await stripe.subscriptions.retrieve(id)).status).toBe('past_due');
  });
});

describe('a backdated subscription of the emulated Stripe', () => {
  it('started before its creation, and its first invoice bills that time now', async () => {
    const { id, subscription, invoice } = await runSubscription(client, [], { backdate: 'P2M' });
    expect(subscription).toMatchObject({
      created: toSeconds(startTime),
      start_date: toSeconds(Date.parse('2026-11-30T10:00:00Z')),
      billing_cycle_anchor: toSeconds(startTime),
    });
    expect(invoice.status_transitions.paid_at).toBe(toSeconds(startTime));
    expect(invoice.lines.data).toMatchObject([
      { period: { start: subscription.start_date, end: toSeconds(startTime) } },
      { amount: 499, period: { start: toSeconds(startTime), end: toSeconds(monthEnd) } },
    ]);
    expect(invoice.lines.data[0]?.amount).toBeGreaterThanOrEqual(2 * 499);
    expect(await show(id)).toMatchObject({ payments: [{ paidAt: '2027-01-31T10:00:00.000Z' }] });
  });
});

describe('taxes of the emulated Stripe', () => {
  it('are added to the lines, the invoice and the session', async () => {
    const order = { taxRate: 19, priceMicros: 10_000_000, country: 'DE' };
    const { id, invoice } = await runSubscription(client, [], order);
    expect(invoice).toMatchObject({
      subtotal: 1000,
      total: 1190,
      total_excluding_tax: 1000,
      amount_paid: 1190,
      total_taxes: [{ amount: 190, tax_behavior: 'exclusive', taxable_amount: 1000 }],
      lines: { data: [{ amount: 1000, taxes: [{ amount: 190 }] }] },
    });
    const { sessionId, ...summary } = await show(id);
    expect(await stripe.checkout.sessions.retrieve(sessionId)).toMatchObject({
      amount_subtotal: 1000,
      amount_total: 1190,
      total_details: { amount_tax: 190 },
    });
    expect(summary).toMatchObject({
      lines: [{ priceMicros: 10_000_000, period: 'P1M' }],
      payments: [{ amountMicros: 11_900_000, taxMicros: 1_900_000 }],
      invoices: [{ taxes: [{ amountMicros: 1_900_000, percentage: 19 }] }],
    });
  });

  it('are part of the charge of a one-time purchase', async () => {
    const order = { productId: 'coins', type: 'consumable', taxRate: 7.5, priceMicros: 2_000_000 };
    const { id, charges, payments } = await placeStripeOrder(client, order);
    expect((await stripe.charges.retrieve(charges[0])).amount).toBe(215);
    expect(payments).toMatchObject([{ taxMicros: 150_000, productIds: ['coins'] }]);
    expect((await stripe.paymentIntents.retrieve(id)).amount).toBe(215);
  });
});

describe('a trial of the emulated Stripe', () => {
  it('can have a fee on its first invoice', async () => {
    const items = [{ productId: 'setup', priceMicros: 3_000_000, oneTime: true }];
    const { id, subscription, invoice } = await runSubscription(client, [], { trial: 'P14D', items });
    expect(subscription).toMatchObject({ status: 'trialing', items: { data: [{ price: { product: 'plan' } }] } });
    expect(invoice).toMatchObject({ amount_paid: 300, lines: { data: [{ amount: 300 }, { amount: 0 }] } });
    const { sessionId } = await show(id);
    expect(await stripe.checkout.sessions.retrieve(sessionId)).toMatchObject({
      amount_total: 300,
      payment_status: 'paid',
    });
  });

  it('has a session and an invoice without an amount', async () => {
    const { sessionId } = await placeStripeOrder(client, { trial: 'P14D' });
    expect(await stripe.checkout.sessions.retrieve(sessionId)).toMatchObject({
      amount_total: 0,
      payment_status: 'no_payment_required',
    });
  });
});

describe('a metered price of the emulated Stripe', () => {
  it('is billed in arrears for the usage of the period', async () => {
    const order = { productId: 'calls', metered: true, priceMicros: 100_000 };
    const { invoice, item, subscription } = await runSubscription(
      client,
      [['report-usage', { quantity: 30 }], ['report-usage', { quantity: 5 }], 'P1M', ['renew']],
      order,
    );
    expect(item?.price.recurring?.usage_type).toBe('metered');
    expect(item?.quantity).toBeUndefined();
    expect(subscription.status).toBe('active');
    expect(invoice).toMatchObject({
      amount_paid: 350,
      created: toSeconds(monthEnd),
      lines: { data: [{ quantity: 35, period: { start: toSeconds(startTime), end: toSeconds(monthEnd) } }] },
    });
  });
});

it('keeps the options of Stripe from the other stores', async () => {
  const { status } = await client.buy({ collection: 'send_invoice' });
  expect(status).toBe(422);
});
