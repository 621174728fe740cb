import * as v from 'valibot';
import { defineContract } from './contract.ts';
import { Username } from './identifiers.ts';
import { PurchaseRecord } from './purchase-records.ts';
import { nullableOptional } from './schemas.ts';

const Text = v.pipe(v.string(), v.minLength(1), v.maxLength(500));
const Url = v.pipe(v.string(), v.maxLength(5_000), v.url());
const Token = v.pipe(v.string(), v.maxLength(200));

/**
 * Stripe stores at most 500 characters in a metadata value.
 * @see https://docs.stripe.com/metadata
 */
const CheckoutUsername = v.pipe(Username, v.maxLength(500));

export const PricingPhase = v.strictObject({
  priceMicros: v.number(),
  currency: v.string(),
  billingPeriod: v.exactOptional(v.string()),
  recurrenceMode: v.picklist(['NON_RECURRING', 'FINITE_RECURRING', 'INFINITE_RECURRING']),
  paymentMode: v.picklist(['FreeTrial', 'PayAsYouGo', 'UpFront']),
});
export type PricingPhase = v.InferOutput<typeof PricingPhase>;

export const PriceListOffer = v.strictObject({
  id: v.string(),
  productId: v.string(),
  productType: v.string(),
  platform: v.string(),
  offerType: v.picklist(['Subscription', 'Default']),
  pricingPhases: v.array(PricingPhase),
});
export type PriceListOffer = v.InferOutput<typeof PriceListOffer>;

export const PriceListProduct = v.strictObject({
  type: v.string(),
  id: v.string(),
  title: v.string(),
  description: v.exactOptional(v.string()),
  metadata: v.exactOptional(v.record(v.string(), v.string())),
  platform: v.string(),
  offers: v.array(PriceListOffer),
});
export type PriceListProduct = v.InferOutput<typeof PriceListProduct>;

/** A purchase with its offer, which clients look up in the price list. */
export const PurchaseWithOffer = v.strictObject({ ...PurchaseRecord.entries, offerId: v.exactOptional(v.string()) });
export type PurchaseWithOffer = v.InferOutput<typeof PurchaseWithOffer>;

const common = { area: 'stripe', keyLevel: 'public', errorFormat: 'processor' } as const;

export const createCheckout = defineContract({
  ...common,
  id: 'create-checkout',
  summary: 'Create a checkout session',
  method: 'POST',
  path: '/v3/processor_a/checkout',
  aliases: ['/v3/stripe/checkout'],
  eventType: 'checkout.created',
  body: v.object({
    offerId: Text,
    applicationUsername: nullableOptional(CheckoutUsername),
    successUrl: Url,
    cancelUrl: Url,
    mode: nullableOptional(v.picklist(['payment', 'subscription'])),
    // An invalid token counts as no token.
    accessToken: nullableOptional(v.pipe(v.string(), v.maxLength(5_000))),
  }),
  response: v.strictObject({ ok: v.literal(true), sessionId: v.string(), url: v.string(), accessToken: v.string() }),
  permissions: ['write', 'stores'],
});

export const changePlan = defineContract({
  ...common,
  id: 'change-plan',
  summary: 'Change the plan of a subscription immediately, with proration',
  method: 'POST',
  path: '/v3/processor_a/change-plan',
  aliases: ['/v3/stripe/change-plan'],
  eventType: 'plan.changed',
  // Released clients omit `id`; some send a prefixed `purchaseId`. The token then identifies the subscription.
  body: v.object({ id: nullableOptional(Text), purchaseId: nullableOptional(Text), accessToken: Token, offerId: Text }),
  response: v.strictObject({
    ok: v.literal(true),
    purchase: v.exactOptional(PurchaseWithOffer),
    newAccessToken: v.exactOptional(v.string()),
  }),
  permissions: ['write', 'stores'],
});

export const createPortal = defineContract({
  ...common,
  id: 'create-portal',
  summary: 'Create a session of the customer portal',
  method: 'POST',
  path: '/v3/processor_a/portal',
  aliases: ['/v3/stripe/portal'],
  eventType: 'portal.created',
  body: v.object({ id: nullableOptional(Text), accessToken: Token, returnUrl: Url }),
  response: v.strictObject({ ok: v.literal(true), url: v.string() }),
  permissions: ['stores'],
});

export const getPrices = defineContract({
  ...common,
  id: 'get-prices',
  summary: 'List the products and prices that are configured at the processor',
  method: 'GET',
  path: '/v3/processor_a/prices',
  aliases: ['/v3/stripe/prices'],
  eventType: 'prices.read',
  response: v.strictObject({ ok: v.literal(true), products: v.array(PriceListProduct) }),
  permissions: ['stores'],
});

export const getProcessorPurchases = defineContract({
  ...common,
  id: 'get-processor-purchases',
  summary: 'List the current purchases of a customer at the processor',
  method: 'GET',
  path: '/v3/processor_a/purchases',
  aliases: ['/v3/stripe/purchases'],
  eventType: 'purchases.read',
  query: v.object({ accessToken: nullableOptional(Token), applicationUsername: nullableOptional(Username) }),
  response: v.strictObject({
    ok: v.literal(true),
    purchases: v.array(PurchaseWithOffer),
    newAccessToken: v.exactOptional(v.string()),
  }),
  writingParameter: 'accessToken',
  permissions: ['write', 'stores'],
});
