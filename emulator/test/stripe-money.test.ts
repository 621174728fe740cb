import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type Stripe from 'stripe';
import { dayMs } from '../calendar.ts';
import { type EmulatorClient, startEmulatorClient, startTime } from './emulator-client.ts';
import { monthEnd } from './random-histories.ts';
import { buildItemPeriod, createStripeClient, placeStripeOrder, runSubscription } from './stripe-client.ts';

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
