import { describe, expect, it } from '@jest/globals';
import type Stripe from 'stripe';
import type { Strategy } from '../../lib/apps/app.ts';
import { changeSettings, type IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { createCheckout } from '../../lib/checkout/contract.ts';
import { getCustomerPurchases } from '../../lib/customers/contract.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { callWithPublicKey, callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { checkoutUrls, createStripeClient } from './checkout-fixture.ts';
import { listReasons, startNotificationFixture } from './notification-fixture.ts';

const fixture = startBeforeAll(startNotificationFixture);

type SellingPlatform = 'processor_a' | 'service_processor_a';
const products = { subscription: { interval: 'month' }, payment: undefined } as const;
type Mode = keyof typeof products;

/** A customer who has paid a checkout session and has not opened the app since. */
interface WebPurchase {
  readonly keys: IssuedApiKeys;
  readonly stripe: Stripe;
  readonly applicationUsername: string;
  readonly productId: string;
  readonly sessionId: string;
  /** Prefixed. */
  readonly purchaseId: string;
  /** The request body of a client that validates the purchase for a user. */
  buildValidateBody(username: string): object;
}

async function payAtCheckout(
  platform: SellingPlatform,
  mode: Mode,
  { strategy = 'all' }: { strategy?: Strategy } = {},
): Promise<WebPurchase> {
  const keys = await fixture.createNotifiedApp(platform);
  await changeSettings(getService(), keys.appName, { strategy });
  const stripe = await createStripeClient(fixture, keys.appName, platform);
  const { id: productId } = await stripe.products.create({ name: 'The plan' });
  const recurring = products[mode];
  const price = { product: productId, unit_amount: 499, currency: 'usd', ...(recurring && { recurring }) };
  const { id: offerId } = await stripe.prices.create(price);
  const applicationUsername = createUniqueName('user');
  const body = { offerId, applicationUsername, ...checkoutUrls };
  const { sessionId } = (await callWithPublicKey(createCheckout, keys, { body })).body;
  const { id } = await fixture.callControl(`/checkouts/${sessionId}/pay`, {});
  return {
    keys,
    stripe,
    applicationUsername,
    productId,
    sessionId,
    purchaseId: `${platform}:${id}`,
    buildValidateBody: (username) => ({
      id: productId,
      type: mode === 'subscription' ? 'paid subscription' : 'consumable',
      transaction: { type: 'processor_a-charge', id: sessionId },
      additionalData: { applicationUsername: username },
    }),
  };
}

const listOwnProducts = async (keys: IssuedApiKeys, applicationUsername: string): Promise<string[]> =>
  Object.keys(
    (await callWithSecretKey(getCustomerPurchases, keys, { params: { applicationUsername } })).body.purchases,
  );

describe('paid checkout of a buyer who never returns to the app', () => {
  it.each([
    ['processor_a', 'subscription'],
    ['processor_a', 'payment'],
    ['service_processor_a', 'subscription'],
    ['service_processor_a', 'payment'],
  ] as const)('grants the purchase to the new user of the checkout at %s in mode %s', async (platform, mode) => {
    const { keys, applicationUsername, productId, purchaseId } = await payAtCheckout(platform, mode);
    await fixture.processNotifications();
    expect(await listOwnProducts(keys, applicationUsername)).toEqual([`${platform}:${productId}`]);
    const purchase = await fixture.fetchPurchase(keys, purchaseId);
    expect(purchase.entitledUsers).toEqual([applicationUsername]);
    expect(listReasons(purchase)).toEqual(['PURCHASED']);
  });

  it.each<[Strategy, (buyer: string, other: string) => string[]]>([
    ['all', (buyer, other) => [buyer, other]],
    ['first', (buyer) => [buyer]],
    ['last', (_buyer, other) => [other]],
  ])('keeps the buyer as the first claimant with the strategy %s', async (strategy, selectOwners) => {
    const { keys, applicationUsername, purchaseId, buildValidateBody } = await payAtCheckout(
      'processor_a',
      'subscription',
      { strategy },
    );
    // Sorts before every name of the test, so that the order of the names cannot decide.
    const other = `!${createUniqueName('user')}`;
    const { body } = await fixture.validate(keys, buildValidateBody(other));
    const owners = selectOwners(applicationUsername, other);
    expect(body.ok).toBe(owners.includes(other));
    expect((await fixture.fetchPurchase(keys, purchaseId)).entitledUsers).toEqual(owners);
    await fixture.processNotifications();
    expect((await fixture.fetchPurchase(keys, purchaseId)).entitledUsers).toEqual(owners);
  });

  it.each(['subscription', 'payment'] as const)(
    'grants a known user the purchase of a payment link with their reference in mode %s',
    async (mode) => {
      const { keys, stripe, applicationUsername, buildValidateBody } = await payAtCheckout('processor_a', 'payment');
      await fixture.validate(keys, buildValidateBody(applicationUsername));
      const { id: product } = await stripe.products.create({ name: 'The plan of the link' });
      const recurring = products[mode];
      const price = { product, unit_amount: 499, currency: 'usd', ...(recurring && { recurring }) };
      const { id: sessionId } = await stripe.checkout.sessions.create({
        mode,
        line_items: [{ price: (await stripe.prices.create(price)).id, quantity: 1 }],
        success_url: checkoutUrls.successUrl,
        client_reference_id: applicationUsername,
      });
      const { id } = await fixture.callControl(`/checkouts/${sessionId}/pay`, {});
      await fixture.processNotifications();
      expect(await listOwnProducts(keys, applicationUsername)).toContain(`processor_a:${product}`);
      expect(listReasons(await fixture.fetchPurchase(keys, `processor_a:${id}`))).toEqual(['PURCHASED']);
    },
  );

  it.each([
    ['a reference that the buyer wrote into a payment link', {}],
    ["another app's metadata", { app: 'another-app', applicationUsername: 'a user' }],
    ["the metadata of the developer's own checkout", { applicationUsername: 'a user' }],
  ])('grants nothing to a new user in %s', async (_description, metadata) => {
    const keys = await fixture.createNotifiedApp('processor_a');
    const stripe = await createStripeClient(fixture, keys.appName, 'processor_a');
    const { id: product } = await stripe.products.create({ name: 'Coins' });
    const { id: price } = await stripe.prices.create({ product, unit_amount: 150, currency: 'usd' });
    const { id: sessionId } = await stripe.checkout.sessions.create({
      mode: 'payment',
      line_items: [{ price, quantity: 1 }],
      success_url: checkoutUrls.successUrl,
      client_reference_id: 'a user',
      metadata,
      payment_intent_data: { metadata },
    });
    await fixture.callControl(`/checkouts/${sessionId}/pay`, {});
    await fixture.processNotifications();
    expect(await listOwnProducts(keys, 'a user')).toEqual([]);
  });
});
