import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type Stripe from 'stripe';
import { type EmulatorClient, startEmulatorClient, startTime } from './emulator-client.ts';
import { monthEnd, type Step } from './random-histories.ts';
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

describe('a change of plan', () => {
  it('charges what is left of the period, less what was paid for it', async () => {
    const { invoice, item } = await live(['P14D', ['change-plan', { productId: 'bigger', priceMicros: 9_990_000 }]]);
    expect(item).toMatchObject({ price: { product: 'bigger', unit_amount: 999 }, ...period(startTime, monthEnd) });
    expect(invoice).toMatchObject({
      billing_reason: 'subscription_update',
      amount_paid: 250,
      lines: { data: [{ amount: -250 }, { amount: 500 }] },
    });
  });

  it('to another period begins that period', async () => {
    const { item } = await live([
      'P14D',
      ['change-plan', { productId: 'plan', period: 'P1Y', priceMicros: 49_990_000 }],
    ]);
    const at = startTime + 14 * 86_400_000;
    expect(item).toMatchObject(period(at, Date.parse('2028-02-14T10:00:00Z')));
  });
});

describe('money goes back', () => {
  it('by a refund of the latest charge', async () => {
    const { id, events } = await live([['renew'], ['refund']]);
    expect(events).toEqual(['refund.created', 'charge.refunded']);
    const { body } = await user.control('GET', `/control/purchases/${id}`);
    const charges = await Promise.all(body.charges.map((charge: string) => stripe.charges.retrieve(charge)));
    expect(charges.map(({ refunded }: Stripe.Charge) => refunded)).toEqual([false, true]);
    expect((await stripe.refunds.list({ charge: body.charges[1] })).data).toMatchObject([
      { amount: 499, status: 'succeeded' },
    ]);
  });

  it('by a dispute that is lost', async () => {
    const { id, events } = await live([['revoke']]);
    expect(events).toEqual(['charge.dispute.created', 'charge.dispute.funds_withdrawn', 'charge.dispute.closed']);
    const { body } = await user.control('GET', `/control/purchases/${id}`);
    expect((await stripe.disputes.list({ charge: body.charges[0] })).data).toMatchObject([{ status: 'lost' }]);
  });

  it('not for a trial, of which nothing was paid', async () => {
    const { id } = await boughtFrom(user, { trial: true });
    expect((await user.act(id, 'refund')).status).toBe(422);
  });
});

it('sells to the same user as to the same customer, and keeps test mode apart', async () => {
  const order = { applicationUsername: 'same' };
  const [first, second] = [
    await boughtFrom(user, order),
    await boughtFrom(user, { ...order, productId: 'coins', type: 'consumable' }),
  ];
  const test = await boughtFrom(user, { ...order, sandbox: true });
  expect(second.customerId).toBe(first.customerId);
  expect(test.customerId).not.toBe(first.customerId);
  expect(test).toMatchObject({ sandbox: true, validate: { transaction: { id: expect.stringMatching(/^ch_/) } } });
});

it('refuses what it cannot sell', async () => {
  for (const order of [{ intro: true }, { period: 'PT1H' }, { priceMicros: 4_995_500 }]) {
    expect(
      (await user.buy({ platform: 'processor_a', productId: `odd-${JSON.stringify(order)}`, ...order })).status,
    ).toBe(422);
  }
});
