import Stripe from 'stripe';
import {
  changePlan,
  createCheckout,
  createPortal,
  getPrices,
  getProcessorPurchases,
} from '../../lib/api/processor-a.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { deps } from '../../lib/deps.ts';
import type { Platform } from '../../lib/shared/platform.ts';
import { buildBasicAuth, type CallResult, callEndpoint } from '../../testing/call.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

const contracts = {
  checkout: createCheckout,
  'change-plan': changePlan,
  portal: createPortal,
  prices: getPrices,
  purchases: getProcessorPurchases,
} as const;

/** A shop that sells a monthly plan, a yearly one with a trial, a dearer month and coins. */
export interface TestShop extends TestService {
  readonly keys: IssuedApiKeys;
  readonly prices: Readonly<Record<'basic' | 'yearly' | 'pro' | 'coins', string>>;
  /** The account as its owner uses it. */
  readonly stripe: Stripe;
  /** A call with the public key; a POST where the endpoint is one. */
  ask(
    what: keyof typeof contracts,
    sent?: object,
    options?: { readonly keys?: IssuedApiKeys; readonly brand?: boolean },
  ): Promise<CallResult>;
  /** Checks out the offer as the user and pays; gives what the checkout answered. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  buy(offerId: string, more?: object): Promise<any>;
}

export const urls = {
  successUrl: 'https://app.example.com/#ok?id={CHECKOUT_SESSION_ID}',
  cancelUrl: 'https://app.example.com/#no',
};

export async function openTestShop(platform: Platform = 'processor_a'): Promise<TestShop> {
  const service = await startTestService();
  const keys = await service.createApp([platform]);
  const stripe = await ownerOf(service, keys.appName, platform);
  const prices = await stock(stripe);
  const ask: TestShop['ask'] = async (what, sent = {}, options = {}) => {
    const { keys: own = keys, brand = false } = options;
    const contract = contracts[what];
    const path = brand ? { path: `/v3/stripe/${what}` } : {};
    const headers = buildBasicAuth(own.appName, own.publicKey);
    const payload = contract.method === 'GET' ? { query: sent as Record<string, string> } : { body: sent };
    return await callEndpoint(contract, { ...path, headers, ...payload });
  };
  return {
    ...service,
    keys,
    prices,
    stripe,
    ask,
    buy: async (offerId, more = {}) => {
      const { body } = await ask('checkout', { offerId, ...urls, ...more });
      await service.callControl(`/checkouts/${body.sessionId}/pay`, {});
      return body;
    },
  };
}

async function ownerOf(service: TestService, appName: string, platform: Platform): Promise<Stripe> {
  const { secretKey } = (await deps().apps.findStoreSettings(appName, platform)) as { secretKey: string };
  const fetchFromEmulator: typeof fetch = async (url, init) => {
    const { host, pathname, search } = new URL(String(url));
    return await fetch(`${service.emulatorUrl}/${host}${pathname}${search}`, init);
  };
  return new Stripe(secretKey, { httpClient: Stripe.createFetchHttpClient(fetchFromEmulator), maxNetworkRetries: 0 });
}

async function stock(stripe: Stripe): Promise<TestShop['prices']> {
  const product = async (id: string, metadata: Stripe.MetadataParam = {}): Promise<void> => {
    await stripe.products.create({ id, name: `The ${id}`, metadata });
  };
  const price = async (product: string, unit_amount: number, recurring?: Stripe.PriceCreateParams.Recurring) =>
    (await stripe.prices.create({ product, unit_amount, currency: 'usd', ...(recurring && { recurring }) })).id;
  await product('prod_basic', { supportLevel: 'email' });
  await product('prod_pro', { product_type: 'paid subscription', canPurchase: 'true' });
  await product('prod_coins');
  await product('prod_foreign', { app: 'another-app' });
  await price('prod_foreign', 100);
  return {
    basic: await price('prod_basic', 499, { interval: 'month' }),
    yearly: await price('prod_basic', 4999, { interval: 'year', trial_period_days: 14 }),
    pro: await price('prod_pro', 999, { interval: 'month' }),
    coins: await price('prod_coins', 150),
  };
}
