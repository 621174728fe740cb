import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type Stripe from 'stripe';
import { dayMs } from '../calendar.ts';
import { type EmulatorClient, startEmulatorClient, startTime } from './emulator-client.ts';
import { monthEnd, type Step } from './random-histories.ts';
import { buildItemPeriod, createStripeClient, placeStripeOrder, runSubscription, toSeconds } from './stripe-client.ts';

let client: EmulatorClient;
let stripe: Stripe;
beforeAll(async () => {
  client = await startEmulatorClient();
  stripe = createStripeClient(client);
});
afterAll(() => client.close());

describe('a plan change at the emulated Stripe', () => {
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

describe('a subscription with several items at the emulated Stripe', () => {
  const base = { productId: 'base', priceMicros: 10_000_000, applicationUsername: 'items' };
  const addOn = { productId: 'add-on', priceMicros: 5_000_000 };

  it('ends a canceled subscription with the period of an item that is added', async () => {
    const canceled = { ...base, productId: 'annual base', period: 'P1Y', autoRenew: true };
    const { subscription } = await runSubscription(client, [['cancel'], ['add-item', addOn], 'P1M'], canceled);
    expect(subscription).toMatchObject({ status: 'canceled', cancel_at: toSeconds(monthEnd) });
  });

  it('bills the items on one invoice, the latest first, and their sum is one charge', async () => {
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

describe('the reversal actions of the emulated Stripe', () => {
  it('refund the latest charge', async () => {
    const { id, events } = await runSubscription(client, [['renew'], ['refund']]);
    expect(events).toEqual(['refund.created', 'charge.refunded']);
    const { body } = await client.control('GET', `/control/purchases/${id}`);
    const charges = await Promise.all(body.charges.map((charge: string) => stripe.charges.retrieve(charge)));
    expect(charges.map(({ refunded }: Stripe.Charge) => refunded)).toEqual([false, true]);
    expect((await stripe.refunds.list({ charge: body.charges[1] })).data).toMatchObject([
      { amount: 499, status: 'succeeded' },
    ]);
  });

  it('create a lost dispute', async () => {
    const { id, events } = await runSubscription(client, [['revoke']]);
    expect(events).toEqual(['charge.dispute.created', 'charge.dispute.funds_withdrawn', 'charge.dispute.closed']);
    const { body } = await client.control('GET', `/control/purchases/${id}`);
    expect((await stripe.disputes.list({ charge: body.charges[0] })).data).toMatchObject([{ status: 'lost' }]);
    expect(body).toMatchObject({ paidMicros: 4_990_000, refundedMicros: 0, disputedMicros: 4_990_000 });
  });

  it('withdraw the funds of an open dispute, and return them when it is won', async () => {
    const { id } = await runSubscription(client, [['refund', { amountMicros: 1_000_000 }], ['dispute']]);
    const show = async () => (await client.control('GET', `/control/purchases/${id}`)).body;
    expect(await show()).toMatchObject({ refundedMicros: 1_000_000, disputedMicros: 3_990_000 });
    await client.act(id, 'win-dispute');
    expect(await show()).toMatchObject({ refundedMicros: 1_000_000, disputedMicros: 0 });
  });

  it('do not count a failed charge or a free trial as a payment', async () => {
    const { id } = await runSubscription(client, [['fail-payment']], { trial: 'P7D' });
    expect((await client.control('GET', `/control/purchases/${id}`)).body).toMatchObject({
      charges: [],
      paidMicros: 0,
    });
  });

  it('reject a refund of a free trial', async () => {
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
