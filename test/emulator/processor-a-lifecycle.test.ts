import { afterAll, beforeAll, expect, it, test } from '@jest/globals';
import type Stripe from 'stripe';
import { type EmulatorClient, startEmulatorClient, startTime } from './emulator-client.ts';
import { monthEnd, nextMonthEnd, type Step } from './random-histories.ts';
import { boughtFrom, ownerOf } from './stripe-client.ts';

let user: EmulatorClient;
let stripe: Stripe;
beforeAll(async () => {
  user = await startEmulatorClient();
  stripe = ownerOf(user);
});
afterAll(() => user.close());

const seconds = (ms: number): number => ms / 1000;

/** Lives a monthly subscription through the steps; gives it with its invoice, and the events of the last step. */
async function live(steps: readonly Step[], order: object = {}) {
  user.clock.set(startTime);
  const { id } = await boughtFrom(user, order);
  let events: string[] = [];
  for (const step of steps) {
    if (typeof step === 'string') {
      await user.advance(step);
      continue;
    }
    const { status, body } = await user.act(id, ...step);
    expect({ status, message: body.message }).toEqual({ status: 200 });
    events = body.notifications.map(({ type }: { type: string }) => type);
  }
  const subscription = await stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] });
  return {
    id,
    events,
    subscription,
    item: subscription.items.data[0],
    invoice: subscription.latest_invoice as Stripe.Invoice,
  };
}

const period = (from: number, to: number) => ({ current_period_start: seconds(from), current_period_end: seconds(to) });

test.each<[string, readonly Step[], { subscription?: object; item?: object; invoice?: object }, readonly string[]]>([
  [
    'is active when bought',
    [],
    {
      subscription: { status: 'active', start_date: seconds(startTime) },
      item: period(startTime, monthEnd),
      invoice: { billing_reason: 'subscription_create', status: 'paid' },
    },
    [],
  ],
  [
    'renews at the end of its period',
    [['renew']],
    {
      subscription: { status: 'active' },
      item: period(monthEnd, nextMonthEnd),
      invoice: { billing_reason: 'subscription_cycle', amount_paid: 499 },
    },
    ['payment_intent.succeeded', 'invoice.paid', 'customer.subscription.updated'],
  ],
  [
    'stays active when cancelled',
    [['cancel']],
    {
      subscription: {
        status: 'active',
        cancel_at_period_end: true,
        cancel_at: seconds(monthEnd),
        cancellation_details: { reason: 'cancellation_requested' },
      },
    },
    ['customer.subscription.updated'],
  ],
  [
    'goes on when the cancellation is taken back',
    [['cancel'], ['uncancel']],
    { subscription: { cancel_at_period_end: false, cancel_at: null, canceled_at: null } },
    ['customer.subscription.updated'],
  ],
  [
    'ends with its period when cancelled',
    [['cancel'], 'P1M'],
    {
      subscription: {
        status: 'canceled',
        ended_at: seconds(monthEnd),
        cancellation_details: { reason: 'cancellation_requested' },
      },
    },
    ['customer.subscription.updated'],
  ],
  [
    'is past due in the period that it could not pay',
    [['fail-payment']],
    {
      subscription: { status: 'past_due' },
      item: period(monthEnd, nextMonthEnd),
      invoice: { status: 'open', amount_paid: 0, amount_remaining: 499 },
    },
    ['payment_intent.payment_failed', 'invoice.payment_failed', 'customer.subscription.updated'],
  ],
  [
    'is unpaid when it fails again',
    [['fail-payment'], ['fail-payment']],
    { subscription: { status: 'unpaid' } },
    ['invoice.payment_failed', 'customer.subscription.updated'],
  ],
  [
    'is unpaid at once without grace',
    [['fail-payment', { grace: false }]],
    { subscription: { status: 'unpaid' } },
    ['payment_intent.payment_failed', 'invoice.payment_failed', 'customer.subscription.updated'],
  ],
  [
    'is active again when the payment succeeds',
    [['fail-payment'], ['recover']],
    { subscription: { status: 'active' }, invoice: { status: 'paid', amount_paid: 499 } },
    ['payment_intent.succeeded', 'invoice.paid', 'customer.subscription.updated'],
  ],
  [
    'ends by billing while payments fail',
    [['fail-payment'], ['expire']],
    { subscription: { status: 'canceled', cancellation_details: { reason: 'payment_failed' } } },
    ['customer.subscription.deleted'],
  ],
  [
    'ends at once',
    [['expire']],
    { subscription: { status: 'canceled', ended_at: seconds(startTime) } },
    ['customer.subscription.deleted'],
  ],
  [
    'is paused until it resumes by itself',
    [['pause', { period: 'P3D' }]],
    { subscription: { status: 'active', pause_collection: { resumes_at: seconds(startTime) + 3 * 86_400 } } },
    ['customer.subscription.updated'],
  ],
  [
    'is collected again after the pause',
    [['pause', { period: 'P3D' }], 'P4D'],
    { subscription: { pause_collection: null } },
    ['customer.subscription.updated'],
  ],
  [
    'is collected again when resumed',
    [['pause'], ['resume']],
    { subscription: { pause_collection: null } },
    ['customer.subscription.updated'],
  ],
])('a subscription %s', async (_title, steps, expected, events) => {
  const lived = await live(steps);
  expect(lived).toMatchObject(expected);
  expect(lived.events).toEqual(events);
});

test.each<[string, readonly Step[], Step]>([
  ['does not renew when it ended', [['expire']], ['renew']],
  ['does not renew when it was cancelled', [['cancel']], ['renew']],
  ['is not cancelled twice', [['cancel']], ['cancel']],
  ['has nothing to recover while it is paid', [], ['recover']],
  ['does not end twice', [['expire']], ['expire']],
  ['is not paused twice', [['pause']], ['pause']],
  ['does not resume unless it is paused', [], ['resume']],
  ['is not refunded twice', [['refund']], ['refund']],
  ['does not change to what it is', [], ['change-plan', { productId: 'plan' }]],
  ['raises no price', [], ['raise-price']],
  ['is not shared', [], ['share', { applicationUsername: 'someone' }]],
])('a subscription %s', async (_title, steps, last) => {
  const { id } = await live(steps);
  if (typeof last === 'string') throw new Error('The last step is an action');
  expect((await user.act(id, ...last)).status).toBe(422);
});

it('renews by itself when it was bought so', async () => {
  const { id, subscription } = await live(['P2M'], { autoRenew: true });
  expect(subscription.items.data[0]).toMatchObject({ current_period_start: seconds(nextMonthEnd) });
  expect((await stripe.invoices.list({ subscription: id })).data.map(({ billing_reason }) => billing_reason)).toEqual([
    'subscription_cycle',
    'subscription_cycle',
    'subscription_create',
  ]);
});

it('begins with a trial that costs nothing, and is paid after it', async () => {
  const { id, subscription, invoice } = await live([], { trial: 'P7D' });
  expect(subscription).toMatchObject({ status: 'trialing', trial_end: seconds(startTime) + 7 * 86_400 });
  expect(invoice).toMatchObject({ amount_paid: 0, status: 'paid' });
  await user.act(id, 'renew');
  expect(await stripe.subscriptions.retrieve(id)).toMatchObject({
    status: 'active',
    items: { data: [{ current_period_start: seconds(startTime) + 7 * 86_400 }] },
  });
});
