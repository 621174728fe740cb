import { beforeAll, describe, expect, it } from '@jest/globals';
import type Stripe from 'stripe';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { dayMs } from '../calendar.ts';
import { formatAmount } from '../stripe/money.ts';
import { startEmulatorClient, startTime } from './emulator-client.ts';
import { monthEnd, type Step } from './random-histories.ts';
import { buildItemPeriod, createStripeClient, placeStripeOrder, runSubscription, toSeconds } from './stripe-client.ts';

const client = startBeforeAll(startEmulatorClient);
let stripe: Stripe;
beforeAll(async () => {
  stripe = createStripeClient(client);
});

const show = async (id: string) => (await client.control('GET', `/control/purchases/${id}`)).body;

describe('emailed subscription of the emulated Stripe', () => {
  const order = { collection: 'send_invoice', daysUntilDue: 15 };

  it('starts active with an open invoice that has a due date, and without a charge', async () => {
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

  it('becomes past due after the due date until the customer pays', async () => {
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

describe('backdated subscription of the emulated Stripe', () => {
  it('starts before its creation, and bills the time until now with its first invoice', async () => {
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

describe('taxRate of the emulated Stripe', () => {
  it('adds the tax to the lines, the invoice and the session', async () => {
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

  it('includes the tax in the charge of a one-time purchase', async () => {
    const order = { productId: 'coins', type: 'consumable', taxRate: 7.5, priceMicros: 2_000_000 };
    const { id, charges, payments } = await placeStripeOrder(client, order);
    expect((await stripe.charges.retrieve(charges[0])).amount).toBe(215);
    expect(payments).toMatchObject([{ taxMicros: 150_000, productIds: ['coins'] }]);
    expect((await stripe.paymentIntents.retrieve(id)).amount).toBe(215);
  });
});

describe('trial of the emulated Stripe', () => {
  it('charges a fee on its first invoice', async () => {
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

  it('creates a session and an invoice without an amount', async () => {
    const { sessionId } = await placeStripeOrder(client, { trial: 'P14D' });
    expect(await stripe.checkout.sessions.retrieve(sessionId)).toMatchObject({
      amount_total: 0,
      payment_status: 'no_payment_required',
    });
  });
});

describe('metered price of the emulated Stripe', () => {
  it('bills the usage of the period in arrears', async () => {
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

it('supports the options of Stripe at no other store', async () => {
  const { status } = await client.buy({ collection: 'send_invoice' });
  expect(status).toBe(422);
});

describe('plan change of the emulated Stripe', () => {
  it('charges the prorated difference for the remaining period', async () => {
    const { invoice, item } = await runSubscription(client, [
      'P14D',
      ['change-plan', { productId: 'bigger', priceMicros: 9_990_000 }],
    ]);
    expect(item).toMatchObject({
      price: { product: 'bigger', unit_amount: 999 },
      ...buildItemPeriod(startTime, monthEnd),
    });
    expect(invoice).toMatchObject({
      billing_reason: 'subscription_update',
      amount_paid: 250,
      lines: { data: [{ amount: -250 }, { amount: 500 }] },
    });
  });

  it('starts a new period if the billing period changes', async () => {
    const { item } = await runSubscription(client, [
      'P14D',
      ['change-plan', { productId: 'plan', period: 'P1Y', priceMicros: 49_990_000 }],
    ]);
    const at = startTime + 14 * dayMs;
    expect(item).toMatchObject(buildItemPeriod(at, Date.parse('2028-02-14T10:00:00Z')));
  });

  it('ends a canceled subscription with the period of the new interval', async () => {
    const quarterly = { productId: 'quarterly', period: 'P3M', autoRenew: true };
    const toWeekly: Step = ['change-plan', { productId: 'weekly', period: 'P1W' }];
    const { subscription } = await runSubscription(client, [['cancel'], 'P1D', toWeekly, 'P1W'], quarterly);
    expect(subscription).toMatchObject({ status: 'canceled', cancel_at: toSeconds(startTime + 8 * dayMs) });
  });
});

describe('subscription with several items of the emulated Stripe', () => {
  const base = { productId: 'base', priceMicros: 10_000_000, applicationUsername: 'items' };
  const addOn = { productId: 'add-on', priceMicros: 5_000_000 };

  it('ends a canceled subscription with the period of an item that is added', async () => {
    const canceled = { ...base, productId: 'annual base', period: 'P1Y', autoRenew: true };
    const { subscription } = await runSubscription(client, [['cancel'], ['add-item', addOn], 'P1M'], canceled);
    expect(subscription).toMatchObject({ status: 'canceled', cancel_at: toSeconds(monthEnd) });
  });

  it('bills the items on one invoice, the latest first, with one charge for their sum', async () => {
    const { id, invoice, subscription } = await runSubscription(client, [], { ...base, items: [addOn] });
    const [first, second] = subscription.items.data.map((item) => item.id);
    expect(invoice).toMatchObject({ amount_paid: 1500, lines: { data: [{ amount: 500 }, { amount: 1000 }] } });
    expect(invoice.lines.data.map(({ parent }) => parent?.subscription_item_details?.subscription_item)).toEqual([
      second,
      first,
    ]);
    expect((await client.control('GET', `/control/purchases/${id}`)).body).toMatchObject({
      lines: [
        { id: first, productId: 'base', priceMicros: 10_000_000 },
        { id: second, ...addOn },
      ],
      paidMicros: 15_000_000,
      refundedMicros: 0,
      disputedMicros: 0,
    });
  });

  it('bills items with different intervals on separate invoices', async () => {
    const order = { ...base, items: [{ ...addOn, period: 'P1Y' }] };
    const { subscription, invoice } = await runSubscription(client, [['renew']], order);
    expect(subscription).toMatchObject({
      billing_mode: { type: 'flexible' },
      items: { data: [{ current_period_start: monthEnd / 1000 }, { current_period_start: startTime / 1000 }] },
    });
    expect(invoice).toMatchObject({ amount_paid: 1000, lines: { data: [{ amount: 1000 }] } });
  });

  it('adds an item for the rest of the period, and credits the rest of a removed item', async () => {
    const { subscription, invoice } = await runSubscription(client, ['P14D', ['add-item', addOn]], base);
    expect(subscription.items.data.map(({ current_period_end }) => current_period_end * 1000)).toEqual([
      monthEnd,
      monthEnd,
    ]);
    expect(invoice).toMatchObject({ amount_paid: 250, lines: { data: [{ amount: 250 }] } });
    const removed = await runSubscription(client, [['remove-item', { productId: 'base' }]], {
      ...base,
      items: [addOn],
    });
    expect(removed.subscription.items.data).toMatchObject([{ price: { product: 'add-on' } }]);
    expect(removed.invoice).toMatchObject({ amount_paid: 0, lines: { data: [{ amount: -1000 }] } });
  });

  it('adds an item that a trial offer makes free until the end of the cycle', async () => {
    const trial: Step[] = ['P14D', ['add-item', { ...addOn, trial: true }]];
    const { subscription, invoice } = await runSubscription(client, trial, base);
    const [, item] = subscription.items.data;
    expect(subscription.status).toBe('active');
    expect(item?.current_trial).toMatchObject({ end_date: item?.current_period_end });
    expect(invoice).toMatchObject({ amount_paid: 0, lines: { data: [{ amount: 0 }] } });
    const renewed = await runSubscription(client, [...trial, 'P1M'], { ...base, autoRenew: true });
    expect(renewed.subscription.items.data[1]).toMatchObject({ current_trial: null });
    expect(renewed.invoice).toMatchObject({ amount_paid: 1500 });
  });

  it('keeps the items of a subscription that was renewed before the end of its period', async () => {
    const { id } = (await client.buy({ ...base, platform: 'processor_a', type: 'paid subscription', items: [addOn] }))
      .body;
    await client.control('POST', `/control/purchases/${id}/renew`, {});
    const path = `/control/purchases/${id}/remove-item`;
    expect(await client.control('POST', path, { productId: 'add-on' })).toMatchObject({ status: 422 });
    await client.advance('P1M');
    expect(await client.control('POST', path, { productId: 'add-on' })).toMatchObject({ status: 200 });
  });
});

describe('reversal actions of the emulated Stripe', () => {
  it('refunds the latest charge', async () => {
    const { id, events } = await runSubscription(client, [['renew'], ['refund']]);
    expect(events).toEqual(['refund.created', 'charge.refunded']);
    const { body } = await client.control('GET', `/control/purchases/${id}`);
    const charges = await Promise.all(body.charges.map((charge: string) => stripe.charges.retrieve(charge)));
    expect(charges.map(({ refunded }: Stripe.Charge) => refunded)).toEqual([false, true]);
    expect((await stripe.refunds.list({ charge: body.charges[1] })).data).toMatchObject([
      { amount: 499, status: 'succeeded' },
    ]);
  });

  it('creates a lost dispute', async () => {
    const { id, events } = await runSubscription(client, [['revoke']]);
    expect(events).toEqual(['charge.dispute.created', 'charge.dispute.funds_withdrawn', 'charge.dispute.closed']);
    const { body } = await client.control('GET', `/control/purchases/${id}`);
    expect((await stripe.disputes.list({ charge: body.charges[0] })).data).toMatchObject([{ status: 'lost' }]);
    expect(body).toMatchObject({ paidMicros: 4_990_000, refundedMicros: 0, disputedMicros: 4_990_000 });
  });

  it('withdraws the funds of an open dispute, and returns them if the dispute is won', async () => {
    const { id } = await runSubscription(client, [['refund', { amountMicros: 1_000_000 }], ['dispute']]);
    const show = async () => (await client.control('GET', `/control/purchases/${id}`)).body;
    expect(await show()).toMatchObject({ refundedMicros: 1_000_000, disputedMicros: 3_990_000 });
    await client.act(id, 'win-dispute');
    expect(await show()).toMatchObject({ refundedMicros: 1_000_000, disputedMicros: 0 });
  });

  it('does not show a refund that failed', async () => {
    const { id } = await runSubscription(client, [['refund'], ['reverse-refund']]);
    const { body } = await client.control('GET', `/control/purchases/${id}`);
    expect(body).toMatchObject({ refundedMicros: 0, payments: [{ refunds: [] }] });
  });

  it('withdraws the funds of an inquiry when the bank escalates it', async () => {
    const { id } = await runSubscription(client, [['inquire']]);
    const show = async () => (await client.control('GET', `/control/purchases/${id}`)).body;
    const { charges } = await show();
    const showDispute = async () => (await stripe.disputes.list({ charge: charges[0] })).data[0];
    const inquiry = await showDispute();
    expect(inquiry).toMatchObject({ status: 'warning_needs_response', amount: 499, balance_transactions: [] });
    expect(await stripe.charges.retrieve(charges[0])).toMatchObject({ disputed: true });
    expect((await client.act(id, 'win-dispute')).status).toBe(422);
    await client.act(id, 'refund', { amountMicros: 1_000_000 });
    await client.advance('P2D');
    await client.act(id, 'dispute');
    const { created } = inquiry as Stripe.Dispute;
    expect(await showDispute()).toMatchObject({
      id: inquiry?.id,
      status: 'needs_response',
      created,
      balance_transactions: [{ amount: -399, created: created + 2 * 86_400 }],
    });
    expect(await show()).toMatchObject({ refundedMicros: 1_000_000, disputedMicros: 3_990_000 });
    expect((await client.act(id, 'refund')).status).toBe(422);
  });

  it('closes an inquiry that was not escalated, and does not refund or dispute a refunded inquiry again', async () => {
    const { id } = await runSubscription(client, [['inquire'], ['close-inquiry']]);
    expect((await client.act(id, 'close-inquiry')).status).toBe(422);
    expect((await client.act(id, 'refund')).status).toBe(200);
    for (const action of ['refund', 'dispute', 'inquire']) expect((await client.act(id, action)).status).toBe(422);
  });

  it('withdraws a payment that was refunded in full', async () => {
    const { id } = await runSubscription(client, [['refund'], ['dispute']]);
    const { body } = await client.control('GET', `/control/purchases/${id}`);
    expect(body).toMatchObject({ paidMicros: 4_990_000, refundedMicros: 4_990_000, disputedMicros: 4_990_000 });
    expect(await stripe.charges.retrieve(body.charges[0])).toMatchObject({
      amount_refunded: 499,
      refunded: true,
      disputed: true,
    });
    expect((await stripe.disputes.list({ charge: body.charges[0] })).data).toMatchObject([
      { amount: 499, balance_transactions: [{ amount: -499 }] },
    ]);
  });

  it('does not count a failed charge or a free trial as a payment', async () => {
    const { id } = await runSubscription(client, [['fail-payment']], { trial: 'P7D' });
    expect((await client.control('GET', `/control/purchases/${id}`)).body).toMatchObject({
      charges: [],
      paidMicros: 0,
    });
  });

  it('rejects a refund of a free trial', async () => {
    const { id } = await placeStripeOrder(client, { trial: true });
    expect((await client.act(id, 'refund')).status).toBe(422);
  });
});

describe('orders of the emulated Stripe API', () => {
  it('uses one customer for each username and mode', async () => {
    const order = { applicationUsername: 'same' };
    const [first, second] = [
      await placeStripeOrder(client, order),
      await placeStripeOrder(client, { ...order, productId: 'coins', type: 'consumable' }),
    ];
    const sandboxPurchase = await placeStripeOrder(client, { ...order, sandbox: true });
    expect(second.customerId).toBe(first.customerId);
    expect(sandboxPurchase.customerId).not.toBe(first.customerId);
    expect(sandboxPurchase).toMatchObject({
      sandbox: true,
      validate: { transaction: { id: expect.stringMatching(/^ch_/) } },
    });
  });

  it('rejects unsupported orders', async () => {
    for (const order of [{ intro: true }, { period: 'PT1H' }, { priceMicros: 4_995_500 }]) {
      expect(
        (await client.buy({ platform: 'processor_a', productId: `product-${JSON.stringify(order)}`, ...order })).status,
      ).toBe(422);
    }
  });
});

describe('formatAmount (Stripe)', () => {
  it.each([
    [499, 'usd', '4.99 USD'],
    [500, 'jpy', '500 JPY'],
    [1_500, 'kwd', '1.500 KWD'],
  ])('formats %d %s as %s', (amount, currency, text) => {
    expect(formatAmount(amount, currency)).toBe(text);
  });
});

let serviceStripe: Stripe;
beforeAll(async () => {
  serviceStripe = createStripeClient(client, String(client.settings('service_processor_a').secretKey));
});

const platform = 'service_processor_a';

describe('service_processor_a of the emulator', () => {
  it('uses its own keys and signing secret', () => {
    const [first, second] = [client.settings('processor_a'), client.settings(platform)];
    expect(Object.keys(second)).toEqual(Object.keys(first));
    expect(second.secretKey).not.toBe(first.secretKey);
    expect(second.webhookSecrets).not.toEqual(first.webhookSecrets);
  });

  it('shows its objects only to its own key', async () => {
    const purchase = await placeStripeOrder(client, { platform, applicationUsername: 'ann' });
    expect(purchase).toMatchObject({
      platform,
      notifications: expect.arrayContaining([expect.objectContaining({ platform })]),
    });
    expect(await serviceStripe.subscriptions.retrieve(purchase.id)).toMatchObject({
      id: purchase.id,
      status: 'active',
    });
    await expect(stripe.subscriptions.retrieve(purchase.id)).rejects.toMatchObject({ code: 'resource_missing' });
    const otherPurchase = await placeStripeOrder(client);
    await expect(serviceStripe.subscriptions.retrieve(otherPurchase.id)).rejects.toMatchObject({
      code: 'resource_missing',
    });
  });

  it('sells its own products', async () => {
    await placeStripeOrder(client, { platform, productId: 'deployments' });
    await expect(stripe.products.retrieve('deployments')).rejects.toMatchObject({ code: 'resource_missing' });
    expect((await serviceStripe.prices.list({ product: 'deployments' })).data).toHaveLength(1);
  });

  it('emits events of its own platform', async () => {
    const { id } = await placeStripeOrder(client, { platform });
    expect((await client.act(id, 'cancel')).body).toMatchObject({
      platform,
      cancelAtPeriodEnd: true,
      notifications: [{ platform, type: 'customer.subscription.updated' }],
    });
  });

  it('renders its own hosted pages', async () => {
    const { customerId } = await placeStripeOrder(client, { platform });
    const urls = { success_url: 'https://a.example/ok', cancel_url: 'https://a.example/no' };
    const [price] = (await serviceStripe.prices.list({ product: 'plan' })).data;
    const session = await serviceStripe.checkout.sessions.create({
      mode: 'subscription',
      line_items: [{ price: price?.id ?? '', quantity: 1 }],
      ...urls,
    });
    const fetchPageStatus = async (url: string | null) => {
      const { pathname } = new URL(url ?? '');
      return (await client.call(pathname)).status;
    };
    expect(await fetchPageStatus(session.url)).toBe(200);
    const portal = await serviceStripe.billingPortal.sessions.create({
      customer: customerId,
      return_url: urls.success_url,
    });
    expect(await fetchPageStatus(portal.url)).toBe(200);
    expect((await client.control('POST', `/control/checkouts/${session.id}/pay`)).body).toMatchObject({ platform });
  });

  it('rejects an unknown key', async () => {
    await expect(createStripeClient(client, 'sk_live_unknown').products.list()).rejects.toMatchObject({
      statusCode: 401,
    });
  });

  it('simulates its own faults', async () => {
    await client.addFault({ platform, fault: 'down', times: 1 });
    expect((await stripe.products.list()).object).toBe('list');
    await expect(serviceStripe.products.list()).rejects.toMatchObject({ statusCode: 500 });
  });
});
