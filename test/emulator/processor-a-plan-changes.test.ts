import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type Stripe from 'stripe';
import { type EmulatorClient, startEmulatorClient, startTime } from './emulator-client.ts';
import { boughtFrom, ownerOf } from './stripe-client.ts';

let user: EmulatorClient;
let stripe: Stripe;
beforeAll(async () => {
  user = await startEmulatorClient();
  stripe = ownerOf(user);
});
afterAll(() => user.close());

/** The latest events, as many as are asked for. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
async function events(count: number): Promise<any[]> {
  return (await user.control('GET', '/control')).body.notifications.slice(-count);
}

it('pauses a subscription whole, and resumes it with a new period', async () => {
  const { id } = await boughtFrom(user);
  const paused = await stripe.subscriptions.pause(id);
  expect(paused).toMatchObject({
    status: 'paused',
    status_details: { paused: { transitioned_at: startTime / 1000, subscription: { type: 'pause_requested' } } },
  });
  expect(await events(2)).toMatchObject([
    { type: 'customer.subscription.updated', data: { previous_attributes: { status: 'active' } } },
    { type: 'customer.subscription.paused', data: { object: { id, status: 'paused' } } },
  ]);
  await user.advance('P2M');
  const resumed = await stripe.subscriptions.resume(id, { expand: ['latest_invoice'] });
  const at = Math.floor(user.clock.now() / 1000);
  expect(resumed).toMatchObject({
    status: 'active',
    items: { data: [{ current_period_start: at }] },
    latest_invoice: { status: 'paid' },
  });
  expect(resumed).not.toHaveProperty('status_details');
  expect((await events(4)).map(({ type }) => type)).toEqual([
    'payment_intent.succeeded',
    'invoice.paid',
    'customer.subscription.updated',
    'customer.subscription.resumed',
  ]);
  await expect(stripe.subscriptions.resume(id)).rejects.toMatchObject({ statusCode: 400 });
});

it('tells of the call that made a change', async () => {
  const { id } = await boughtFrom(user);
  const { lastResponse } = await stripe.subscriptions.update(
    id,
    { cancel_at_period_end: true },
    { idempotencyKey: 'once' },
  );
  expect(await events(1)).toMatchObject([
    { type: 'customer.subscription.updated', request: { id: lastResponse.requestId, idempotency_key: 'once' } },
  ]);
});

it('tells of a catalogue that changes', async () => {
  const product = await stripe.products.create({ name: 'Gold' });
  const price = await stripe.prices.create({ product: product.id, currency: 'usd', unit_amount: 100 });
  expect((await events(2)).map(({ type }) => type)).toEqual(['product.created', 'price.created']);
  expect(await stripe.prices.update(price.id, { active: false })).toMatchObject({ active: false, unit_amount: 100 });
  expect(await stripe.products.update(product.id, { name: 'Old gold' })).toMatchObject({
    name: 'Old gold',
    active: true,
  });
  expect(await events(2)).toMatchObject([
    { type: 'price.updated', data: { object: { active: false }, previous_attributes: { active: true } } },
    { type: 'product.updated', data: { object: { name: 'Old gold' }, previous_attributes: { name: 'Gold' } } },
  ]);
  expect((await stripe.prices.list({ product: product.id, active: true })).data).toEqual([]);
  await expect(stripe.prices.update('price_none', { active: false })).rejects.toMatchObject({
    code: 'resource_missing',
  });
});

it.each(['by a call', 'by itself after a day'])('tells of a checkout that expired %s', async (how) => {
  await boughtFrom(user);
  const [price] = (await stripe.prices.list({ product: 'plan' })).data;
  const session = await stripe.checkout.sessions.create({
    mode: 'subscription',
    line_items: [{ price: price?.id ?? '', quantity: 1 }],
    success_url: 'https://a.example/ok',
  });
  if (how === 'by a call') await stripe.checkout.sessions.expire(session.id);
  else await user.advance('P1D');
  expect(await events(1)).toMatchObject([
    { type: 'checkout.session.expired', data: { object: { id: session.id, status: 'expired', url: null } } },
  ]);
});

it('tells what a refund changed', async () => {
  const { id, charges } = await boughtFrom(user);
  await stripe.refunds.create({ charge: charges[0], amount: 100 });
  expect(await events(1)).toMatchObject([
    { purchaseId: id, type: 'charge.refunded', data: { previous_attributes: { amount_refunded: 0 } } },
  ]);
});
