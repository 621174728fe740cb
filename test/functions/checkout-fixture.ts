import { expect } from '@jest/globals';
import Stripe from 'stripe';
import type { Contract } from '../../lib/api/contract.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { findStoreSettings } from '../../lib/apps/store-settings-table.ts';
import { createCheckout } from '../../lib/checkout/contract.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import { type CallResult, callWithPublicKey } from '../../testing/call.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

interface CallCheckoutOptions {
  /** Replaces the keys of the fixture's app. */
  readonly keys?: IssuedApiKeys;
  /** Calls the brand path `/v3/stripe/…` instead of the path of the contract. */
  readonly usesBrandPath?: boolean;
}

/** An app with a Stripe account in the emulator. */
export interface CheckoutFixture extends TestService {
  readonly keys: IssuedApiKeys;
  /** Price ids: a monthly plan, a yearly plan with a trial of 14 days, a more expensive monthly plan, a consumable. */
  readonly prices: Readonly<Record<'basic' | 'yearly' | 'pro' | 'coins', string>>;
  /** Client of the app's Stripe account. */
  readonly stripe: Stripe;
  /** Calls a contract of Stripe with the public key. `input` is the query of a GET and the body of a POST. */
  call(contract: Contract, input?: object, options?: CallCheckoutOptions): Promise<CallResult>;
  /** Creates a checkout session, pays it and returns the response to its creation. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
  buy(offerId: string, fields?: object): Promise<any>;
}

/** Return addresses of a checkout session. */
export const checkoutUrls = {
  successUrl: 'https://app.example.com/#ok?id={CHECKOUT_SESSION_ID}',
  cancelUrl: 'https://app.example.com/#no',
};

/** Builds the offer id of a price of the basic plan. */
export const toBasicOffer = (priceId: string): string => `processor_a:prod_basic#${priceId}`;

export async function startCheckoutFixture(platform: Platform = 'processor_a'): Promise<CheckoutFixture> {
  const service = await startTestService();
  const keys = await service.createApp([platform]);
  const stripe = await createStripeClient(service, keys.appName, platform);
  const prices = await createPrices(stripe);
  const call: CheckoutFixture['call'] = async (contract, input = {}, options = {}) => {
    const payload = contract.method === 'GET' ? { query: input as Record<string, string> } : { body: input };
    const path = options.usesBrandPath ? { path: contract.path.replace('processor_a', 'stripe') } : {};
    return await callWithPublicKey(contract, options.keys ?? keys, { ...path, ...payload });
  };
  return {
    ...service,
    keys,
    prices,
    stripe,
    call,
    async buy(offerId, fields = {}) {
      const { body } = await call(createCheckout, { offerId, ...checkoutUrls, ...fields });
      await service.callControl(`/checkouts/${body.sessionId}/pay`, {});
      return body;
    },
  };
}

/** Creates a client of the Stripe account that an app has in the emulator. */
export async function createStripeClient(
  service: Pick<TestService, 'emulatorUrl'>,
  appName: string,
  platform: Platform,
): Promise<Stripe> {
  const { secretKey } = (await findStoreSettings(getService(), appName, platform)) as { secretKey: string };
  const fetchFromEmulator: typeof fetch = async (url, init) => {
    const { host, pathname, search } = new URL(String(url));
    return await fetch(`${service.emulatorUrl}/${host}${pathname}${search}`, init);
  };
  return new Stripe(secretKey, { httpClient: Stripe.createFetchHttpClient(fetchFromEmulator), maxNetworkRetries: 0 });
}

async function createPrices(stripe: Stripe): Promise<CheckoutFixture['prices']> {
  const createProduct = async (id: string, metadata: Stripe.MetadataParam = {}): Promise<void> => {
    await stripe.products.create({ id, name: `The ${id}`, metadata });
  };
  const createPrice = async (product: string, unit_amount: number, recurring?: Stripe.PriceCreateParams.Recurring) =>
    (await stripe.prices.create({ product, unit_amount, currency: 'usd', ...(recurring && { recurring }) })).id;
  await createProduct('prod_basic', { supportLevel: 'email' });
  await createProduct('prod_pro', { product_type: 'paid subscription', canPurchase: 'true' });
  await createProduct('prod_coins');
  await createProduct('prod_foreign', { app: 'another-app' });
  await createPrice('prod_foreign', 100);
  return {
    basic: await createPrice('prod_basic', 499, { interval: 'month' }),
    yearly: await createPrice('prod_basic', 4999, { interval: 'year', trial_period_days: 14 }),
    pro: await createPrice('prod_pro', 999, { interval: 'month' }),
    coins: await createPrice('prod_coins', 150),
  };
}

/** Expects an error in the error format of Stripe. All errors have the same `code`. */
export function expectCheckoutError({ status, body }: CallResult, expectedStatus: number, message: RegExp): void {
  expect({ status, body }).toMatchObject({
    status: expectedStatus,
    body: { ok: false, status: expectedStatus, code: 6778003 },
  });
  expect(body.message).toMatch(message);
}
