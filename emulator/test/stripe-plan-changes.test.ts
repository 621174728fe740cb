import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type Stripe from 'stripe';
import { type EmulatorClient, startEmulatorClient, startTime } from './emulator-client.ts';
import { createStripeClient, placeStripeOrder, toSeconds } from './stripe-client.ts';

let client: EmulatorClient;
let stripe: Stripe;
beforeAll(async () => {
  client = await startEmulatorClient();
  stripe = createStripeClient(client);
});
afterAll(() => client.close());

/** Lists the latest events. */
// biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
async function listEvents(count: number): Promise<any[]> {
  return (await client.control('GET', '/control')).body.notifications.slice(-count);
}

describe('changes through the emulated Stripe API', () => {
  it('pauses a subscription and resumes it with a new period', async () => {
    const { id } = await placeStripeOrder(client);
    const paused = await stripe.subscriptions.pause(id);
    expect(paused).toMatchObject({
      status: 'paused',
      status_details: { paused: { transitioned_at: toSeconds(startTime), subscription: { type: 'pause_requested' } } },
    });
    expect(await listEvents(2)).toMatchObject([
      { type: 'customer.subscription.updated', data: { previous_attributes: { status: 'active' } } },
      { type: 'customer.subscription.paused', data: { object: { id, status: 'paused' } } },
    ]);
    await client.advance('P2M');
    const resumed = await stripe.subscriptions.resume(id, { expand: ['latest_invoice'] });
    const at = Math.floor(toSeconds(client.clock.now()));
    expect(resumed).toMatchObject({
      status: 'active',
      items: { data: [{ current_period_start: at }] },
      latest_invoice: { status: 'paid' },
    });
    expect(resumed).not.toHaveProperty('status_details');
    expect((await listEvents(4)).map(({ type }) => type)).toEqual([
      'payment_intent.succeeded',
      'invoice.paid',
      'customer.subscription.updated',
      'customer.subscription.resumed',
    ]);
    await expect(stripe.subscriptions.resume(id)).rejects.toMatchObject({ statusCode: 400 });
  });

  it('names the API request that caused an event', async () => {
    const { id } = await placeStripeOrder(client);
    const { lastResponse } = await stripe.subscriptions.update(
      id,
      { cancel_at_period_end: true },
      { idempotencyKey: 'once' },
    );
    expect(await listEvents(1)).toMatchObject([
      { type: 'customer.subscription.updated', request: { id: lastResponse.requestId, idempotency_key: 'once' } },
    ]);
  });

  it('emits events for changed products and prices', async () => {
    const product = await stripe.products.create({ name: 'Gold' });
    const price = await stripe.prices.create({ product: product.id, currency: 'usd', unit_amount: 100 });
    expect((await listEvents(2)).map(({ type }) => type)).toEqual(['product.created', 'price.created']);
    expect(await stripe.prices.update(price.id, { active: false })).toMatchObject({ active: false, unit_amount: 100 });
    expect(await stripe.products.update(product.id, { name: 'Old gold' })).toMatchObject({
      name: 'Old gold',
      active: true,
    });
    expect(await listEvents(2)).toMatchObject([
      { type: 'price.updated', data: { object: { active: false }, previous_attributes: { active: true } } },
      { type: 'product.updated', data: { object: { name: 'Old gold' }, previous_attributes: { name: 'Gold' } } },
    ]);
    expect((await stripe.prices.list({ product: product.id, active: true })).data).toEqual([]);
    await expect(stripe.prices.update('price_none', { active: false })).rejects.toMatchObject({
      code: 'resource_missing',
    });
  });

  it.each(['by a request', 'after a day'])('emits an event for a checkout session that expires %s', async (cause) => {
    await placeStripeOrder(client);
    const [price] = (await stripe.prices.list({ product: 'plan' })).data;
    const session = await stripe.checkout.sessions.create({
      mode: 'subscription',
      line_items: [{ price: price?.id ?? '', quantity: 1 }],
      success_url: 'https://a.example/ok',
    });
    if (cause === 'by a request') await stripe.checkout.sessions.expire(session.id);
    else await client.advance('P1D');
    expect(await listEvents(1)).toMatchObject([
      { type: 'checkout.session.expired', data: { object: { id: session.id, status: 'expired', url: null } } },
    ]);
  });

  it('contains the previous attributes of a refunded charge', async () => {
    const { id, charges } = await placeStripeOrder(client);
    await stripe.refunds.create({ charge: charges[0], amount: 100 });
    expect(await listEvents(1)).toMatchObject([
      { purchaseId: id, type: 'charge.refunded', data: { previous_attributes: { amount_refunded: 0 } } },
    ]);
  });
});
