import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, test } from '@jest/globals';
import { describeWithVectors, readVector } from '../../testing/vectors.ts';
import { type EmulatorClient, startEmulatorClient } from './emulator-client.ts';
import { createStripeClient, placeStripeOrder } from './stripe-client.ts';

/** Fetches one object of every type from the emulator. */
async function fetchObjects(client: EmulatorClient): Promise<Record<string, Record<string, unknown>>> {
  const { id, sessionId, charges, customerId: customer } = await placeStripeOrder(client);
  const other = await placeStripeOrder(client, { productId: 'coins', type: 'consumable' });
  await client.act(id, 'refund');
  await client.act(other.id, 'revoke');
  const stripe = createStripeClient(client);
  const portal = await stripe.billingPortal.sessions.create({ customer, return_url: 'https://a.example/' });
  const headers = { authorization: `Bearer ${client.settings('processor_a').secretKey}` };
  const get = async (path: string) => (await client.call(`/api.stripe.com/v1/${path}`, { headers })).body;
  const session = await get(`checkout/sessions/${sessionId}?expand[]=line_items`);
  const invoice = (await get(`invoices?subscription=${id}&expand[]=data.payments`)).data[0];
  const subscription = await get(`subscriptions/${id}`);
  const {
    platform: _platform,
    purchaseId: _id,
    at: _at,
    ...event
  } = (await client.control('GET', '/control')).body.notifications.at(-1);
  return {
    'billing_portal.session': portal as unknown as Record<string, unknown>,
    charge: await get(`charges/${charges[0]}?expand[]=refunds`),
    'checkout.session': session,
    customer: await get(`customers/${customer}`),
    event,
    dispute: (await get(`disputes?charge=${other.charges[0]}`)).data[0],
    invoice,
    invoice_payment: invoice.payments.data[0],
    item: session.line_items.data[0],
    line_item: invoice.lines.data[0],
    payment_intent: await get(`payment_intents/${other.id}`),
    price: subscription.items.data[0].price,
    product: await get('products/plan'),
    refund: (await get(`refunds?charge=${charges[0]}`)).data[0],
    subscription,
    subscription_item: subscription.items.data[0],
  };
}

/** Members of the official samples that the official types do not have any longer. */
const removedMembers = new Set(['subscription']);

const getJsonType = (value: unknown): string =>
  Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value;

/** Lists the members that are missing or have another type than in the sample. Null matches any type. */
function listDifferences(sample: Record<string, unknown>, object: Record<string, unknown>): string[] {
  return Object.entries(sample).flatMap(([member, value]) => {
    if (!(member in object)) return removedMembers.has(member) ? [] : [`${member} is missing`];
    const [expected, actual] = [getJsonType(value), getJsonType(object[member])];
    return expected === 'null' || actual === 'null' || expected === actual
      ? []
      : [`${member}: ${actual} instead of ${expected}`];
  });
}

describeWithVectors('objects of the emulated Stripe API', () => {
  it('contain all members of the official samples', async () => {
    const client = await startEmulatorClient();
    const objects = await fetchObjects(client);
    await client.close();
    const results = Object.entries(objects).map(([name, object]) => {
      const sample = JSON.parse(readVector('stripe', 'fixtures', `${name}.json`).toString('utf8'));
      expect(object.object).toBe(sample.object);
      return [name, listDifferences(sample, object)] as const;
    });
    expect(Object.fromEntries(results.filter(([, differences]) => differences.length > 0))).toEqual({});
    expect(results).toHaveLength(16);
  });
});

describe('the emulated Stripe API', () => {
  it('keeps all objects over a restart', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'emulator-'));
    const stateFile = join(folder, 'state.json');
    const first = await startEmulatorClient({ stateFile });
    const before = await fetchObjects(first);
    const settings = first.settings('processor_a');
    await first.close();
    const second = await startEmulatorClient({ stateFile });
    const stripe = createStripeClient(second);
    expect(second.settings('processor_a')).toEqual(settings);
    const subscription = await stripe.subscriptions.retrieve(String(before.subscription?.id));
    expect(subscription).toMatchObject({ status: 'active', customer: before.customer?.id });
    expect((await second.act(subscription.id, 'renew')).status).toBe(200);
    await second.close();
    await rm(folder, { recursive: true });
  });

  test.each([
    ['down', 500, 'api_error'],
    ['rate-limited', 429, 'invalid_request_error'],
  ])('returns the error of the API for the fault %s', async (fault, status, type) => {
    const client = await startEmulatorClient();
    await client.addFault({ platform: 'processor_a', fault });
    const { body, status: actualStatus } = await client.call('/api.stripe.com/v1/products');
    await client.close();
    expect({ actualStatus, body }).toMatchObject({ actualStatus: status, body: { error: { type } } });
  });
});
