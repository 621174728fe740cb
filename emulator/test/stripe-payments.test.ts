import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type Stripe from 'stripe';
import { dayMs } from '../calendar.ts';
import { type EmulatorClient, startEmulatorClient, startTime } from './emulator-client.ts';
import { createStripeClient, placeStripeOrder, runSubscription, toSeconds } from './stripe-client.ts';

let client: EmulatorClient;
let stripe: Stripe;
beforeAll(async () => {
  client = await startEmulatorClient();
  stripe = createStripeClient(client);
});
afterAll(() => client.close());

describe('several payments of the emulated Stripe', () => {
  it('pay one invoice after a split', async () => {
    const { id, invoice } = await runSubscription(client, [['split-payment']]);
    const { data } = await stripe.invoicePayments.list({ invoice: invoice.id, status: 'paid' });
    expect(data.map(({ amount_paid }) => amount_paid).sort()).toEqual([249, 250]);
    const intents = await Promise.all(
      data.map(({ payment }) => stripe.paymentIntents.retrieve(String(payment.payment_intent))),
    );
    expect(new Set(intents.map(({ latest_charge }) => latest_charge)).size).toBe(2);
    expect((await stripe.invoices.retrieve(invoice.id)).amount_paid).toBe(499);
    expect((await client.control('GET', `/control/purchases/${id}`)).body).toMatchObject({ paidMicros: 4_990_000 });
  });

  it('are refunded and disputed by their number', async () => {
    const { id } = await runSubscription(client, [
      ['split-payment'],
      'P1M',
      ['renew'],
      ['refund', { payment: 2 }],
      ['refund', { payment: 'last', amountMicros: 1_000_000 }],
      ['dispute', { payment: 1 }],
    ]);
    const { body } = await client.control('GET', `/control/purchases/${id}`);
    const charges: Stripe.Charge[] = await Promise.all(
      body.charges.map((charge: string) => stripe.charges.retrieve(charge)),
    );
    expect(charges.map(({ amount, amount_refunded, disputed }) => [amount, amount_refunded, disputed])).toEqual([
      [250, 0, true],
      [249, 249, false],
      [499, 100, false],
    ]);
    expect((await client.act(id, 'refund', { payment: 4 })).status).toBe(422);
  });
});

describe('the latest payment of the emulated Stripe', () => {
  it('is the one that was made last, also after a renewal that was dated ahead of the clock', async () => {
    const { id } = await runSubscription(client, [['renew'], ['fail-payment'], ['recover'], ['refund']]);
    const { body } = await client.control('GET', `/control/purchases/${id}`);
    const refunded = body.payments.filter(({ refunds }: { refunds: object[] }) => refunds.length > 0);
    expect(refunded).toMatchObject([{ number: 3, periodEnd: body.currentPeriodEnd }]);
  });
});

describe('the payments that the control API shows', () => {
  const show = async (id: string) => (await client.control('GET', `/control/purchases/${id}`)).body;

  it('have the date on which a bank confirmed them', async () => {
    const order = { productId: 'coins', type: 'consumable', pending: true };
    client.clock.set(startTime);
    const { id } = await placeStripeOrder(client, order);
    await client.advance('P3D');
    await client.act(id, 'pay');
    expect((await show(id)).payments).toMatchObject([{ paidAt: '2027-02-03T10:00:00.000Z' }]);
  });

  it('share the tax of their invoice', async () => {
    const { id } = await runSubscription(client, [['split-payment']], { taxRate: 20, priceMicros: 9_990_000 });
    const { payments, invoices } = await show(id);
    const taxes = payments.map(({ taxMicros }: { taxMicros: number }) => taxMicros);
    expect(taxes[0] + taxes[1]).toBe(invoices[0].taxes[0].amountMicros);
  });
});

describe('the invoices that the control API shows', () => {
  it.each([
    ['at once', ['P1M', ['fail-payment']], '2027-02-28T10:00:00.000Z'],
    ['twice', ['P1M', ['fail-payment'], 'P3D', ['fail-payment']], '2027-02-28T10:00:00.000Z'],
    ['days later', ['P1M', ['renew', { pending: true }], 'P5D', ['fail-payment']], '2027-03-05T10:00:00.000Z'],
  ] as const)('have the date of the first failure of a debit that failed %s', async (_when, steps, failedAt) => {
    const { id } = await runSubscription(client, steps);
    const { invoices } = (await client.control('GET', `/control/purchases/${id}`)).body;
    expect(invoices.map(({ payments }: { payments: object[] }) => payments)).toMatchObject([
      [{ status: 'paid' }],
      [{ status: 'open', failedAt }],
    ]);
    expect(invoices[0].payments[0]).not.toHaveProperty('failedAt');
  });
});

describe('an extra invoice of the emulated Stripe', () => {
  it('has a line of an invoice item that is no proration', async () => {
    const { invoice, subscription } = await runSubscription(client, [['extra-invoice', { priceMicros: 20_000_000 }]]);
    expect(subscription.status).toBe('active');
    expect(invoice).toMatchObject({ billing_reason: 'manual', status: 'paid', amount_paid: 2000 });
    expect(invoice.lines.data).toMatchObject([
      { amount: 2000, parent: { type: 'invoice_item_details', invoice_item_details: { proration: false } } },
    ]);
  });

  it('makes the subscription past due if it is not paid, without a new period', async () => {
    const details = { priceMicros: 20_000_000, unpaid: true };
    const { invoice, subscription, item } = await runSubscription(client, ['P7D', ['extra-invoice', details]]);
    expect([subscription.status, invoice.status]).toEqual(['past_due', 'open']);
    expect(item?.current_period_start).toBe(toSeconds(startTime));
  });
});

describe('a moved trial of the emulated Stripe', () => {
  const order = { trial: 'P14D' };

  it('bills the first period when it ends early, and moves the billing anchor', async () => {
    const { subscription, invoice, item } = await runSubscription(
      client,
      ['P3D', ['move-trial', { end: 'now' }]],
      order,
    );
    const now = toSeconds(startTime + 3 * dayMs);
    expect(subscription).toMatchObject({ status: 'active', billing_cycle_anchor: now, trial_end: now });
    expect(subscription.trial_start).toBe(toSeconds(startTime));
    expect(invoice).toMatchObject({ amount_paid: 499, billing_reason: 'subscription_update', created: now });
    expect(item?.current_period_start).toBe(now);
  });

  it('ends later with its period, and keeps its start', async () => {
    const { subscription, item } = await runSubscription(client, ['P3D', ['move-trial', { end: 'P20D' }]], order);
    const end = toSeconds(startTime + 23 * dayMs);
    expect(subscription).toMatchObject({ status: 'trialing', trial_end: end, trial_start: toSeconds(startTime) });
    expect(item?.current_period_end).toBe(end);
  });

  it('goes on after an overdue invoice is paid', async () => {
    const extra = ['extra-invoice', { priceMicros: 20_000_000, unpaid: true }] as const;
    const { subscription } = await runSubscription(client, ['P3D', ['move-trial', { end: 'P9D' }], extra, ['pay', {}]]);
    expect(subscription.status).toBe('trialing');
  });

  it('rejects an end in the past', async () => {
    const { id } = await runSubscription(client, [], order);
    expect((await client.act(id, 'move-trial', { end: '2020-01-01T00:00:00Z' })).status).toBe(400);
    expect((await client.act(id, 'move-trial')).status).toBe(400);
  });
});

describe('a renewal of the emulated Stripe that is dated ahead of the clock', () => {
  it.each([
    ['move-trial', { end: 'P9D' }],
    ['change-plan', { productId: 'weekly', period: 'P1W' }],
  ])('rejects %s to a period that ends before the renewed one starts', async (action, details) => {
    const { id } = await runSubscription(client, ['P3D', ['renew']]);
    expect((await client.act(id, action, details)).status).toBe(422);
    await client.advance('P1M');
    expect((await client.act(id, action, details)).status).toBe(200);
  });
});
