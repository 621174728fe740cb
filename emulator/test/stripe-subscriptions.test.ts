import { beforeEach, describe, expect, it } from '@jest/globals';
import type Stripe from 'stripe';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { dayMs } from '../calendar.ts';
import { startEmulatorClient, startTime } from './emulator-client.ts';
import { monthEnd, nextMonthEnd, type Step } from './random-histories.ts';
import { buildItemPeriod, createStripeClient, placeStripeOrder, runSubscription, toSeconds } from './stripe-client.ts';

const daySeconds = toSeconds(dayMs);

const client = startBeforeAll(startEmulatorClient);
let stripe: Stripe;
beforeEach(async () => {
  await client.reset();
  stripe = createStripeClient(client);
});

describe('subscription of the emulated Stripe API', () => {
  it.each<[string, readonly Step[], { subscription?: object; item?: object; invoice?: object }, readonly string[]]>([
    [
      'after its creation',
      [],
      {
        subscription: { status: 'active', start_date: toSeconds(startTime) },
        item: buildItemPeriod(startTime, monthEnd),
        invoice: { billing_reason: 'subscription_create', status: 'paid' },
      },
      [],
    ],
    [
      'after a renewal',
      [['renew']],
      {
        subscription: { status: 'active' },
        item: buildItemPeriod(monthEnd, nextMonthEnd),
        invoice: { billing_reason: 'subscription_cycle', amount_paid: 499 },
      },
      ['payment_intent.succeeded', 'invoice.paid', 'customer.subscription.updated'],
    ],
    [
      'after a cancelation',
      [['cancel']],
      {
        subscription: {
          status: 'active',
          cancel_at_period_end: true,
          cancel_at: toSeconds(monthEnd),
          cancellation_details: { reason: 'cancellation_requested' },
        },
      },
      ['customer.subscription.updated'],
    ],
    [
      'after a reverted cancelation',
      [['cancel'], ['uncancel']],
      { subscription: { cancel_at_period_end: false, cancel_at: null, canceled_at: null } },
      ['customer.subscription.updated'],
    ],
    [
      'after the end of a canceled period',
      [['cancel'], 'P1M'],
      {
        subscription: {
          status: 'canceled',
          ended_at: toSeconds(monthEnd),
          cancellation_details: { reason: 'cancellation_requested' },
        },
      },
      ['customer.subscription.updated'],
    ],
    [
      'after a failed payment',
      [['fail-payment']],
      {
        subscription: { status: 'past_due' },
        item: buildItemPeriod(monthEnd, nextMonthEnd),
        invoice: { status: 'open', amount_paid: 0, amount_remaining: 499 },
      },
      ['payment_intent.payment_failed', 'invoice.payment_failed', 'customer.subscription.updated'],
    ],
    [
      'after a second failed payment',
      [['fail-payment'], ['fail-payment']],
      { subscription: { status: 'unpaid' } },
      ['invoice.payment_failed', 'customer.subscription.updated'],
    ],
    [
      'after a failed payment without grace',
      [['fail-payment', { grace: false }]],
      { subscription: { status: 'unpaid' } },
      ['payment_intent.payment_failed', 'invoice.payment_failed', 'customer.subscription.updated'],
    ],
    [
      'after a recovered payment',
      [['fail-payment'], ['recover']],
      { subscription: { status: 'active' }, invoice: { status: 'paid', amount_paid: 499 } },
      ['payment_intent.succeeded', 'invoice.paid', 'customer.subscription.updated'],
    ],
    [
      'that ends while a payment is overdue',
      [['fail-payment'], ['expire']],
      { subscription: { status: 'canceled', cancellation_details: { reason: 'payment_failed' } } },
      ['customer.subscription.deleted'],
    ],
    [
      'that ends immediately',
      [['expire']],
      { subscription: { status: 'canceled', ended_at: toSeconds(startTime) } },
      ['customer.subscription.deleted'],
    ],
    [
      'with a limited pause of the collection',
      [['pause-collection', { period: 'P3D' }]],
      { subscription: { status: 'active', pause_collection: { resumes_at: toSeconds(startTime) + 3 * daySeconds } } },
      ['customer.subscription.updated'],
    ],
    [
      'after a limited pause of the collection',
      [['pause-collection', { period: 'P3D' }], 'P4D'],
      { subscription: { pause_collection: null } },
      ['customer.subscription.updated'],
    ],
    [
      'after resumed collection',
      [['pause-collection'], ['resume-collection']],
      { subscription: { pause_collection: null } },
      ['customer.subscription.updated'],
    ],
    [
      'that renews while its collection is paused',
      [['pause-collection'], ['renew']],
      {
        subscription: {
          status: 'active',
          latest_invoice: { status: 'void', amount_paid: 0 },
        },
      },
      ['customer.subscription.updated'],
    ],
    [
      'that is paused',
      [['pause']],
      { subscription: { status: 'paused', pause_collection: null } },
      ['customer.subscription.updated', 'customer.subscription.paused'],
    ],
  ])('returns the state and the events of a subscription %s', async (_case, steps, expected, events) => {
    const result = await runSubscription(client, steps);
    expect(result).toMatchObject(expected);
    expect(result.events).toEqual(events);
  });

  it.each<[string, readonly Step[], Step]>([
    ['a renewal of an ended subscription', [['expire']], ['renew']],
    ['a renewal of a canceled subscription', [['cancel']], ['renew']],
    ['a second cancelation', [['cancel']], ['cancel']],
    ['a recovery without a failed payment', [], ['recover']],
    ['a second end', [['expire']], ['expire']],
    ['a second pause', [['pause']], ['pause']],
    ['a resumption without a pause', [], ['resume']],
    ['a second pause of the collection', [['pause-collection']], ['pause-collection']],
    ['a resumption of the collection without a pause', [], ['resume-collection']],
    ['a failed payment while the collection is paused', [['pause-collection']], ['fail-payment']],
    ['a second refund', [['refund']], ['refund']],
    ['a plan change to the same price', [], ['change-plan', { productId: 'plan' }]],
    [
      'a plan change in a period that failed ahead of the clock',
      [['fail-payment']],
      ['change-plan', { productId: 'bigger' }],
    ],
    ['a price increase', [], ['raise-price']],
    ['family sharing', [], ['share', { applicationUsername: 'kid' }]],
  ])('rejects %s', async (_case, steps, last) => {
    const { id } = await runSubscription(client, steps);
    if (typeof last === 'string') throw new Error('The last step must be an action');
    expect((await client.act(id, ...last)).status).toBe(422);
  });

  it('renews automatically if the order says so', async () => {
    const { id, subscription } = await runSubscription(client, ['P2M'], { autoRenew: true });
    expect(subscription.items.data[0]).toMatchObject({ current_period_start: toSeconds(nextMonthEnd) });
    expect((await stripe.invoices.list({ subscription: id })).data.map(({ billing_reason }) => billing_reason)).toEqual(
      ['subscription_cycle', 'subscription_cycle', 'subscription_create'],
    );
  });

  it('starts a free trial and bills the first period after it', async () => {
    const { id, subscription, invoice } = await runSubscription(client, [], { trial: 'P7D' });
    expect(subscription).toMatchObject({ status: 'trialing', trial_end: toSeconds(startTime) + 7 * daySeconds });
    expect(invoice).toMatchObject({ amount_paid: 0, status: 'paid' });
    await client.act(id, 'renew');
    expect(await stripe.subscriptions.retrieve(id)).toMatchObject({
      status: 'active',
      items: { data: [{ current_period_start: toSeconds(startTime) + 7 * daySeconds }] },
    });
  });
});

describe('invoice with several payments of the emulated Stripe', () => {
  it('collects its payments after a split', async () => {
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

  it('refunds and disputes a payment by its number', async () => {
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

describe('latest payment of the emulated Stripe', () => {
  it('returns the last payment, even after a renewal that was dated ahead of the clock', async () => {
    const { id } = await runSubscription(client, [['renew'], ['fail-payment'], ['recover'], ['refund']]);
    const { body } = await client.control('GET', `/control/purchases/${id}`);
    const refunded = body.payments.filter(({ refunds }: { refunds: object[] }) => refunds.length > 0);
    expect(refunded).toMatchObject([{ number: 3, periodEnd: body.currentPeriodEnd }]);
  });
});

describe('payment in the control API', () => {
  const show = async (id: string) => (await client.control('GET', `/control/purchases/${id}`)).body;

  it('contains the date on which a bank confirmed it', async () => {
    const order = { productId: 'coins', type: 'consumable', pending: true };
    client.clock.set(startTime);
    const { id } = await placeStripeOrder(client, order);
    await client.advance('P3D');
    await client.act(id, 'pay');
    expect((await show(id)).payments).toMatchObject([{ paidAt: '2027-02-03T10:00:00.000Z' }]);
  });

  it('is one with its refund if it was made outside of Stripe', async () => {
    const orderActions = [['fail-payment'], ['pay', { record: true }], ['refund-outside', { record: true }]] as const;
    const { id } = await runSubscription(client, [...orderActions]);
    const { payments, ...sums } = await show(id);
    expect(sums).toMatchObject({ paidMicros: 9_980_000, refundedMicros: 4_990_000 });
    expect(payments).toMatchObject([
      { number: 1, refunds: [] },
      { amountMicros: 4_990_000, refunds: [{ amountMicros: 4_990_000 }] },
    ]);
    expect(payments[1]).toMatchObject({ periodStart: payments[0].periodEnd, productIds: payments[0].productIds });
  });

  it('contains its share of the tax of the invoice', async () => {
    const { id } = await runSubscription(client, [['split-payment']], { taxRate: 20, priceMicros: 9_990_000 });
    const { payments, invoices } = await show(id);
    const taxes = payments.map(({ taxMicros }: { taxMicros: number }) => taxMicros);
    expect(taxes[0] + taxes[1]).toBe(invoices[0].taxes[0].amountMicros);
  });
});

describe('invoice in the control API', () => {
  it.each([
    ['at once', ['P1M', ['fail-payment']], '2027-02-28T10:00:00.000Z'],
    ['twice', ['P1M', ['fail-payment'], 'P3D', ['fail-payment']], '2027-02-28T10:00:00.000Z'],
    ['days later', ['P1M', ['renew', { pending: true }], 'P5D', ['fail-payment']], '2027-03-05T10:00:00.000Z'],
  ] as const)('contains the date of the first failure of a debit that failed %s', async (_when, steps, failedAt) => {
    const { id } = await runSubscription(client, steps);
    const { invoices } = (await client.control('GET', `/control/purchases/${id}`)).body;
    expect(invoices.map(({ payments }: { payments: object[] }) => payments)).toMatchObject([
      [{ status: 'paid' }],
      [{ status: 'open', failedAt }],
    ]);
    expect(invoices[0].payments[0]).not.toHaveProperty('failedAt');
  });
});

describe('extra invoice of the emulated Stripe', () => {
  it('contains a line of an invoice item that is not a proration', async () => {
    const { invoice, subscription } = await runSubscription(client, [['extra-invoice', { priceMicros: 20_000_000 }]]);
    expect(subscription.status).toBe('active');
    expect(invoice).toMatchObject({ billing_reason: 'manual', status: 'paid', amount_paid: 2000 });
    expect(invoice.lines.data).toMatchObject([
      { amount: 2000, parent: { type: 'invoice_item_details', invoice_item_details: { proration: false } } },
    ]);
  });

  it('makes the subscription past due without a new period if it is not paid', async () => {
    const details = { priceMicros: 20_000_000, unpaid: true };
    const { invoice, subscription, item } = await runSubscription(client, ['P7D', ['extra-invoice', details]]);
    expect([subscription.status, invoice.status]).toEqual(['past_due', 'open']);
    expect(item?.current_period_start).toBe(toSeconds(startTime));
  });
});

describe('moved trial of the emulated Stripe', () => {
  const order = { trial: 'P14D' };

  it('bills the first period and moves the billing anchor if it ends early', async () => {
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

  it('continues after an overdue invoice is paid', async () => {
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

describe('renewal ahead of the clock of the emulated Stripe', () => {
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

type Setting = 'cancel' | 'unpaid' | 'past_due';

/** Fails the first renewal. Returns the subscription after the steps, with the statuses of its invoices by date. */
async function runFailing(failedPayments: Setting, steps: readonly Step[]) {
  await client.control('PUT', '/control/accounts/processor_a', { failedPayments });
  const result = await runSubscription(client, ['P1M', ['fail-payment'], ...steps], {});
  const { data } = await stripe.invoices.list({ subscription: result.id });
  return { ...result, invoices: data.map(({ status }) => status).reverse() };
}

describe('failedPayments of the emulated Stripe', () => {
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

describe('debit that takes days at the emulated Stripe', () => {
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

  it('dates the paid invoice by the confirmation', async () => {
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
