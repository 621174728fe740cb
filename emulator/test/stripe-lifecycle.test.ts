import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type Stripe from 'stripe';
import { dayMs } from '../calendar.ts';
import { type EmulatorClient, startEmulatorClient, startTime } from './emulator-client.ts';
import { monthEnd, nextMonthEnd, type Step } from './random-histories.ts';
import { buildItemPeriod, createStripeClient, runSubscription, toSeconds } from './stripe-client.ts';

const daySeconds = toSeconds(dayMs);

let client: EmulatorClient;
let stripe: Stripe;
beforeAll(async () => {
  client = await startEmulatorClient();
  stripe = createStripeClient(client);
});
afterAll(() => client.close());

describe('a subscription of the emulated Stripe API', () => {
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
