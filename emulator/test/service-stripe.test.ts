import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type Stripe from 'stripe';
import { type EmulatorClient, startEmulatorClient } from './emulator-client.ts';
import { createStripeClient, placeStripeOrder } from './stripe-client.ts';

let client: EmulatorClient;
let appStripe: Stripe;
let serviceStripe: Stripe;
beforeAll(async () => {
  client = await startEmulatorClient();
  appStripe = createStripeClient(client);
  serviceStripe = createStripeClient(client, String(client.settings('service_processor_a').secretKey));
});
afterAll(() => client.close());

const platform = 'service_processor_a';

describe('service_processor_a of the emulator', () => {
  it('uses its own keys and signing secret', () => {
    const [first, second] = [client.settings('processor_a'), client.settings(platform)];
    expect(Object.keys(second)).toEqual(Object.keys(first));
    expect(second.secretKey).not.toBe(first.secretKey);
    expect(second.webhookSecrets).not.toEqual(first.webhookSecrets);
  });

  it('shows its objects only to its own key', async () => {
    const purchase = await placeStripeOrder(client, { platform, applicationUsername: 'ann' });
    expect(purchase).toMatchObject({
      platform,
      notifications: expect.arrayContaining([expect.objectContaining({ platform })]),
    });
    expect(await serviceStripe.subscriptions.retrieve(purchase.id)).toMatchObject({
      id: purchase.id,
      status: 'active',
    });
    await expect(appStripe.subscriptions.retrieve(purchase.id)).rejects.toMatchObject({ code: 'resource_missing' });
    const otherPurchase = await placeStripeOrder(client);
    await expect(serviceStripe.subscriptions.retrieve(otherPurchase.id)).rejects.toMatchObject({
      code: 'resource_missing',
    });
  });

  it('sells its own products', async () => {
    await placeStripeOrder(client, { platform, productId: 'deployments' });
    await expect(appStripe.products.retrieve('deployments')).rejects.toMatchObject({ code: 'resource_missing' });
    expect((await serviceStripe.prices.list({ product: 'deployments' })).data).toHaveLength(1);
  });

  it('emits events of its own platform', async () => {
    const { id } = await placeStripeOrder(client, { platform });
    expect((await client.act(id, 'cancel')).body).toMatchObject({
      platform,
      cancelAtPeriodEnd: true,
      notifications: [{ platform, type: 'customer.subscription.updated' }],
    });
  });

  it('renders its own hosted pages', async () => {
    const { customerId } = await placeStripeOrder(client, { platform });
    const urls = { success_url: 'https://a.example/ok', cancel_url: 'https://a.example/no' };
    const [price] = (await serviceStripe.prices.list({ product: 'plan' })).data;
    const session = await serviceStripe.checkout.sessions.create({
      mode: 'subscription',
      line_items: [{ price: price?.id ?? '', quantity: 1 }],
      ...urls,
    });
    const fetchPageStatus = async (url: string | null) => {
      const { pathname } = new URL(url ?? '');
      return (await client.call(pathname)).status;
    };
    expect(await fetchPageStatus(session.url)).toBe(200);
    const portal = await serviceStripe.billingPortal.sessions.create({
      customer: customerId,
      return_url: urls.success_url,
    });
    expect(await fetchPageStatus(portal.url)).toBe(200);
    expect((await client.control('POST', `/control/checkouts/${session.id}/pay`)).body).toMatchObject({ platform });
  });

  it('rejects an unknown key', async () => {
    await expect(createStripeClient(client, 'sk_live_unknown').products.list()).rejects.toMatchObject({
      statusCode: 401,
    });
  });

  it('simulates its own faults', async () => {
    await client.addFault({ platform, fault: 'down', times: 1 });
    expect((await appStripe.products.list()).object).toBe('list');
    await expect(serviceStripe.products.list()).rejects.toMatchObject({ statusCode: 500 });
  });
});
