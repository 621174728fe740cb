import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type Stripe from 'stripe';
import { type EmulatorClient, startEmulatorClient } from './emulator-client.ts';
import type { Step } from './random-histories.ts';
import { createStripeClient, runSubscription } from './stripe-client.ts';

let client: EmulatorClient;
let stripe: Stripe;
beforeAll(async () => {
  client = await startEmulatorClient();
});
afterAll(() => client.close());
beforeEach(async () => {
  await client.reset();
  stripe = createStripeClient(client);
});

type Setting = 'cancel' | 'unpaid' | 'past_due';

/** Fails the first renewal. Returns the subscription after the steps, with the statuses of its invoices by date. */
async function runFailing(failedPayments: Setting, steps: readonly Step[]) {
  await client.control('PUT', '/control/accounts/processor_a', { failedPayments });
  const result = await runSubscription(client, ['P1M', ['fail-payment'], ...steps], {});
  const { data } = await stripe.invoices.list({ subscription: result.id });
  return { ...result, invoices: data.map(({ status }) => status).reverse() };
}

describe('the setting for failed payments of the emulated Stripe', () => {
  it('cancels a subscription after the last retry', async () => {
    const { subscription } = await runFailing('cancel', [['fail-payment']]);
    expect(subscription).toMatchObject({ status: 'canceled', cancellation_details: { reason: 'payment_failed' } });
  });

  it('leaves a subscription past due, and each new period has an open invoice', async () => {
    const { subscription, invoices, item } = await runFailing('past_due', [
      ['fail-payment'],
      'P1M',
      ['fail-payment'],
      'P1M',
      ['fail-payment'],
    ]);
    expect(subscription.status).toBe('past_due');
    expect(invoices).toEqual(['paid', 'open', 'open', 'open']);
    expect(item?.current_period_start).toBe(Date.parse('2027-04-30T10:00:00Z') / 1000);
  });

  it('makes a subscription unpaid, and its next invoices are drafts', async () => {
    await client.control('PUT', '/control/accounts/processor_a', { failedPayments: 'unpaid' });
    const { id, subscription } = await runSubscription(client, [['fail-payment'], 'P3M'], { autoRenew: true });
    expect(subscription.status).toBe('unpaid');
    const { data } = await stripe.invoices.list({ subscription: id });
    expect(data.map(({ status }) => status).reverse()).toEqual(['paid', 'open', 'draft', 'draft']);
    await client.act(id, 'recover');
    const recovered = await stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] });
    expect(recovered).toMatchObject({ status: 'active', latest_invoice: { status: 'paid', amount_paid: 499 } });
  });

  it('applies two weeks after the first failure if time passes', async () => {
    const order = { autoRenew: true };
    await client.control('PUT', '/control/accounts/processor_a', { failedPayments: 'cancel' });
    expect((await runSubscription(client, [['fail-payment'], 'P13D'], order)).subscription.status).toBe('past_due');
    const { subscription } = await runSubscription(client, ['P1M', ['fail-payment'], 'P15D'], {});
    expect(subscription.status).toBe('canceled');
  });

  it('creates a failed charge for each attempt, after the start of the invoice', async () => {
    const { id } = await runSubscription(client, [['fail-payment'], 'PT1H', ['fail-payment']], {});
    const { latest_invoice: invoice } = await stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] });
    const { data } = await stripe.charges.list();
    const failed = data.filter(({ status }) => status === 'failed');
    expect(failed).toHaveLength(2);
    expect(new Set(failed.map(({ payment_intent }) => payment_intent)).size).toBe(1);
    const [retry, first] = failed.map(({ created }) => created);
    expect(first).toBe((invoice as Stripe.Invoice).created);
    expect(retry).toBeGreaterThan(first ?? 0);
  });

  it('lets the latest of several open invoices make the subscription active', async () => {
    await client.control('PUT', '/control/accounts/processor_a', { failedPayments: 'past_due' });
    const { id } = await runSubscription(client, [['fail-payment'], 'P3M'], { autoRenew: true });
    await client.act(id, 'recover');
    expect((await stripe.subscriptions.retrieve(id)).status).toBe('active');
    const { data } = await stripe.invoices.list({ subscription: id });
    expect(data.map(({ status }) => status)).toEqual(['paid', 'open', 'open', 'paid']);
    expect((await client.act(id, 'pay')).status).toBe(200);
    expect((await stripe.invoices.list({ subscription: id, status: 'open' })).data).toHaveLength(1);
  });

  it('lets a later paid invoice make the subscription active, and a credit pay the next one', async () => {
    const cheaper = { productId: 'cheaper', priceMicros: 490_000 };
    const changed = await runFailing('past_due', [['change-plan', cheaper]]);
    expect(changed.subscription.status).toBe('active');
    expect(changed.invoices).toEqual(['paid', 'open', 'paid']);
    await client.act(changed.id, 'fail-payment');
    expect(await stripe.subscriptions.retrieve(changed.id, { expand: ['latest_invoice'] })).toMatchObject({
      status: 'active',
      latest_invoice: { status: 'paid', amount_paid: 0 },
    });
  });

  it('does not apply to an uncollectible invoice, which the subscription no longer owes', async () => {
    const { subscription, invoices } = await runFailing('unpaid', [['fail-payment'], ['mark-uncollectible']]);
    expect(subscription.status).toBe('active');
    expect(invoices).toEqual(['paid', 'uncollectible']);
  });
});

describe('a debit that takes days at the emulated Stripe', () => {
  it('keeps the subscription active until it fails', async () => {
    const { id, subscription, invoice } = await runSubscription(client, ['P1M', ['renew', { pending: true }]]);
    expect([subscription.status, invoice.status]).toEqual(['active', 'open']);
    const payments = await stripe.invoicePayments.list({
      invoice: invoice.id,
      expand: ['data.payment.payment_intent'],
    });
    expect(payments.data[0]).toMatchObject({ status: 'open', payment: { payment_intent: { status: 'processing' } } });
    await client.advance('P5D');
    await client.act(id, 'fail-payment');
    const failed = await stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] });
    expect(failed).toMatchObject({ status: 'past_due', latest_invoice: { status: 'open' } });
    const charges = await stripe.charges.list({ limit: 1, expand: ['data.failure_balance_transaction'] });
    const { created, failure_balance_transaction: failure } = charges.data[0] ?? {};
    expect(failure).toMatchObject({ created: (created ?? 0) + 5 * 86_400, type: 'payment_failure_refund' });
  });

  it('has the date of its confirmation in the paid invoice', async () => {
    const { subscription, invoice } = await runSubscription(client, [
      'P1M',
      ['renew', { pending: true }],
      'P4D',
      ['pay'],
    ]);
    expect(subscription.status).toBe('active');
    expect(invoice).toMatchObject({ status: 'paid', created: Date.parse('2027-02-28T10:00:00Z') / 1000 });
    expect(invoice.status_transitions.paid_at).toBe(Date.parse('2027-03-04T10:00:00Z') / 1000);
  });
});
