import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type Stripe from 'stripe';
import { type EmulatorClient, startEmulatorClient } from './emulator-client.ts';
import { boughtFrom, ownerOf } from './stripe-client.ts';

let user: EmulatorClient;
let own: Stripe;
let deployments: Stripe;
beforeAll(async () => {
  user = await startEmulatorClient();
  own = ownerOf(user);
  deployments = ownerOf(user, String(user.settings('service_processor_a').secretKey));
});
afterAll(() => user.close());

const platform = 'service_processor_a';

it("has keys and a signing secret of the deployment's own", () => {
  const [first, second] = [user.settings('processor_a'), user.settings(platform)];
  expect(Object.keys(second)).toEqual(Object.keys(first));
  expect(second.secretKey).not.toBe(first.secretKey);
  expect(second.webhookSecrets).not.toEqual(first.webhookSecrets);
});

it('shows what it sold to its own key alone', async () => {
  const bought = await boughtFrom(user, { platform, applicationUsername: 'ann' });
  expect(bought).toMatchObject({
    platform,
    notifications: expect.arrayContaining([expect.objectContaining({ platform })]),
  });
  expect(await deployments.subscriptions.retrieve(bought.id)).toMatchObject({ id: bought.id, status: 'active' });
  await expect(own.subscriptions.retrieve(bought.id)).rejects.toMatchObject({ code: 'resource_missing' });
  const elsewhere = await boughtFrom(user);
  await expect(deployments.subscriptions.retrieve(elsewhere.id)).rejects.toMatchObject({ code: 'resource_missing' });
});

it('has a catalogue of its own', async () => {
  await boughtFrom(user, { platform, productId: 'deployments' });
  await expect(own.products.retrieve('deployments')).rejects.toMatchObject({ code: 'resource_missing' });
  expect((await deployments.prices.list({ product: 'deployments' })).data).toHaveLength(1);
});

it('acts on its purchases, and tells of it as itself', async () => {
  const { id } = await boughtFrom(user, { platform });
  expect((await user.act(id, 'cancel')).body).toMatchObject({
    platform,
    cancelAtPeriodEnd: true,
    notifications: [{ platform, type: 'customer.subscription.updated' }],
  });
});

it('has pages of its own', async () => {
  const { customerId } = await boughtFrom(user, { platform });
  const urls = { success_url: 'https://a.example/ok', cancel_url: 'https://a.example/no' };
  const [price] = (await deployments.prices.list({ product: 'plan' })).data;
  const session = await deployments.checkout.sessions.create({
    mode: 'subscription',
    line_items: [{ price: price?.id ?? '', quantity: 1 }],
    ...urls,
  });
  const pageOf = async (url: string | null) => {
    const { pathname } = new URL(url ?? '');
    return (await user.call(pathname)).status;
  };
  expect(await pageOf(session.url)).toBe(200);
  const portal = await deployments.billingPortal.sessions.create({
    customer: customerId,
    return_url: urls.success_url,
  });
  expect(await pageOf(portal.url)).toBe(200);
  expect((await user.control('POST', `/control/checkouts/${session.id}/pay`)).body).toMatchObject({ platform });
});

it('refuses a key of neither account', async () => {
  await expect(ownerOf(user, 'sk_live_of_nobody').products.list()).rejects.toMatchObject({ statusCode: 401 });
});

it('has outages of its own', async () => {
  await user.addFault({ platform, fault: 'down', times: 1 });
  expect((await own.products.list()).object).toBe('list');
  await expect(deployments.products.list()).rejects.toMatchObject({ statusCode: 500 });
});
