import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, test } from '@jest/globals';
import { describeWithVectors, readVector } from '../../testing/vectors.ts';
import { type EmulatorClient, startEmulatorClient } from './emulator-client.ts';
import { boughtFrom, ownerOf } from './stripe-client.ts';

/** One object of every kind, as the emulator answers it over HTTP. */
async function everyObject(user: EmulatorClient): Promise<Record<string, Record<string, unknown>>> {
  const { id, sessionId, charges, customerId: customer } = await boughtFrom(user);
  const other = await boughtFrom(user, { productId: 'coins', type: 'consumable' });
  await user.act(id, 'refund');
  await user.act(other.id, 'revoke');
  const stripe = ownerOf(user);
  const portal = await stripe.billingPortal.sessions.create({ customer, return_url: 'https://a.example/' });
  const key = { authorization: `Bearer ${user.settings('processor_a').secretKey}` };
  const get = async (path: string) => (await user.call(`/api.stripe.com/v1/${path}`, { headers: key })).body;
  const session = await get(`checkout/sessions/${sessionId}?expand[]=line_items`);
  const invoice = (await get(`invoices?subscription=${id}&expand[]=data.payments`)).data[0];
  const subscription = await get(`subscriptions/${id}`);
  const {
    platform: _platform,
    purchaseId: _id,
    at: _at,
    ...event
  } = (await user.control('GET', '/control')).body.notifications.at(-1);
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

/** A field of a sample that the emulator leaves out: the official types have it no more. */
const optional = new Set(['subscription']);

const kind = (value: unknown): string => (Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value);

/** Where the object lacks a field of the sample, or has it as another type; null stands for any. */
function differences(sample: Record<string, unknown>, object: Record<string, unknown>): string[] {
  return Object.entries(sample).flatMap(([field, value]) => {
    if (!(field in object)) return optional.has(field) ? [] : [`${field} is missing`];
    const [expected, given] = [kind(value), kind(object[field])];
    return expected === 'null' || given === 'null' || expected === given ? [] : [`${field}: ${given} for ${expected}`];
  });
}

describeWithVectors('the objects of the emulator', () => {
  it('have the fields of the official samples', async () => {
    const user = await startEmulatorClient();
    const objects = await everyObject(user);
    await user.close();
    const found = Object.entries(objects).map(([name, object]) => {
      const sample = JSON.parse(readVector('stripe', 'fixtures', `${name}.json`).toString('utf8'));
      expect(object.object).toBe(sample.object);
      return [name, differences(sample, object)] as const;
    });
    expect(Object.fromEntries(found.filter(([, wrong]) => wrong.length > 0))).toEqual({});
    expect(found).toHaveLength(16);
  });
});

it('keeps everything over a restart', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'emulator-'));
  const stateFile = join(folder, 'state.json');
  const first = await startEmulatorClient({ stateFile });
  const before = await everyObject(first);
  const settings = first.settings('processor_a');
  await first.close();
  const second = await startEmulatorClient({ stateFile });
  const stripe = ownerOf(second);
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
])('is %s in the words of the API', async (fault, status, type) => {
  const user = await startEmulatorClient();
  await user.addFault({ platform: 'processor_a', fault });
  const { body, status: result } = await user.call('/api.stripe.com/v1/products');
  await user.close();
  expect({ got: result, body }).toMatchObject({ got: status, body: { error: { type } } });
});
