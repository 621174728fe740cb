import * as v from 'valibot';
import { defineContract } from './contract.ts';
import { Username } from './identifiers.ts';
import { PurchaseRecord } from './purchase-records.ts';

const Text = v.pipe(v.string(), v.minLength(1), v.maxLength(500));
const Url = v.pipe(v.string(), v.maxLength(5_000), v.url());
const Token = v.pipe(v.string(), v.maxLength(200));
/** The processor keeps at most 500 characters of it. */
const CheckoutUsername = v.pipe(Username, v.maxLength(500));
/** Clients send what they have not got as null or as an empty text. */
const nullableOptional = <const S extends v.GenericSchema>(schema: S) =>
  v.optional(
    v.union([
      v.pipe(
        v.nullable(v.literal('')),
        v.transform(() => undefined),
      ),
      schema,
    ]),
  );

const PricingPhase = v.strictObject({
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

/** A purchase with the offer that it was bought by, which clients look up in the price list. */
const PurchaseWithOffer = v.strictObject({ ...PurchaseRecord.entries, offerId: v.exactOptional(v.string()) });
export type PurchaseWithOffer = v.InferOutput<typeof PurchaseWithOffer>;

const common = { area: 'processor-a', keyLevel: 'public', errorFormat: 'processor' } as const;

export const createCheckout = defineContract({
  ...common,
  id: 'create-checkout',
  summary: 'Creates a checkout session',
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
    accessToken: nullableOptional(Token),
  }),
  response: v.strictObject({ ok: v.literal(true), sessionId: v.string(), url: v.string(), accessToken: v.string() }),
  permissions: ['write', 'stores'],
});

export const changePlan = defineContract({
  ...common,
  id: 'change-plan',
  summary: 'Switches a subscription to another price at once, with proration',
  method: 'POST',
  path: '/v3/processor_a/change-plan',
  aliases: ['/v3/stripe/change-plan'],
  eventType: 'plan.changed',
  // Clients that exist today send no `id`, some a prefixed `purchaseId`; the token alone then tells the subscription.
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
  summary: 'Creates a session of the customer portal',
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
  summary: 'Products and prices configured at the processor',
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
  summary: "A buyer's purchases, as the processor knows them now",
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
  permissions: ['write', 'stores'],
});
