import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import {
  type ApiPart,
  applicationUsername,
  describeObject,
  describeOperation,
  describeValue,
} from '../api/describe.ts';
import { nullableOptional, OptionalText, Username } from '../api/schemas.ts';
import { PurchaseRecord, purchaseTexts } from '../purchases/purchase-contract.ts';

const Text = v.pipe(v.string(), v.minLength(1), v.maxLength(500));
const Url = v.pipe(v.string(), v.maxLength(5_000), v.url('a URL with its scheme'));
const Token = v.pipe(v.string(), v.maxLength(200));

/**
 * Stripe stores at most 500 characters in a metadata value.
 * @see https://docs.stripe.com/metadata
 */
const CheckoutUsername = v.pipe(Username, v.maxLength(500));

export const PricingPhase = v.strictObject({
  priceMicros: v.number(),
  currency: v.string(),
  billingPeriod: OptionalText,
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
  description: OptionalText,
  metadata: v.exactOptional(v.record(v.string(), v.string())),
  platform: v.string(),
  offers: v.array(PriceListOffer),
});
export type PriceListProduct = v.InferOutput<typeof PriceListProduct>;

/** A purchase with its offer, which clients look up in the price list. */
export const PurchaseWithOffer = v.strictObject({ ...PurchaseRecord.entries, offerId: OptionalText });
export type PurchaseWithOffer = v.InferOutput<typeof PurchaseWithOffer>;

const common = { area: 'stripe', keyLevel: 'public', errorFormat: 'processor' } as const;

const CheckoutRequest = v.object({
  offerId: Text,
  applicationUsername: nullableOptional(CheckoutUsername),
  successUrl: Url,
  cancelUrl: Url,
  mode: nullableOptional(v.picklist(['payment', 'subscription'])),
  // An invalid token counts as no token.
  accessToken: nullableOptional(v.pipe(v.string(), v.maxLength(5_000))),
});

const CheckoutSession = v.strictObject({
  ok: v.literal(true),
  sessionId: v.string(),
  url: v.string(),
  accessToken: v.string(),
});

export const createCheckout = defineContract({
  ...common,
  id: 'create-checkout',
  summary: 'Create a checkout session',
  method: 'POST',
  path: '/v3/processor_a/checkout',
  aliases: ['/v3/stripe/checkout'],
  eventType: 'checkout.created',
  body: CheckoutRequest,
  response: CheckoutSession,
  permissions: ['write', 'stores'],
  writes: ['accessTokens', 'erasedNames'],
});

// Released clients omit `id`; some send a prefixed `purchaseId`. The token then identifies the subscription.
const PlanChange = v.object({
  id: nullableOptional(Text),
  purchaseId: nullableOptional(Text),
  accessToken: Token,
  offerId: Text,
});

const ChangedPlan = v.strictObject({
  ok: v.literal(true),
  purchase: v.exactOptional(PurchaseWithOffer),
  newAccessToken: OptionalText,
});

export const changePlan = defineContract({
  ...common,
  id: 'change-plan',
  summary: 'Change the plan of a subscription immediately, with proration',
  method: 'POST',
  path: '/v3/processor_a/change-plan',
  aliases: ['/v3/stripe/change-plan'],
  eventType: 'plan.changed',
  body: PlanChange,
  response: ChangedPlan,
  permissions: ['write', 'stores'],
  writes: ['accessTokens', 'purchases'],
});

const PortalRequest = v.object({ id: nullableOptional(Text), accessToken: Token, returnUrl: Url });

const PortalSession = v.strictObject({ ok: v.literal(true), url: v.string() });

export const createPortal = defineContract({
  ...common,
  id: 'create-portal',
  summary: 'Create a session of the customer portal',
  method: 'POST',
  path: '/v3/processor_a/portal',
  aliases: ['/v3/stripe/portal'],
  eventType: 'portal.created',
  body: PortalRequest,
  response: PortalSession,
  permissions: ['stores'],
});

const PriceList = v.strictObject({ ok: v.literal(true), products: v.array(PriceListProduct) });

export const getPrices = defineContract({
  ...common,
  id: 'get-prices',
  summary: 'List the products and prices that are configured at the processor',
  method: 'GET',
  path: '/v3/processor_a/prices',
  aliases: ['/v3/stripe/prices'],
  eventType: 'prices.read',
  response: PriceList,
  permissions: ['stores'],
  writes: ['priceLists'],
});

const ProcessorPurchases = v.strictObject({
  ok: v.literal(true),
  purchases: v.array(PurchaseWithOffer),
  newAccessToken: OptionalText,
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
  response: ProcessorPurchases,
  writingParameter: 'accessToken',
  permissions: ['write', 'stores'],
  writes: ['accessTokens', 'purchases'],
});

const ClientTokenRequest = v.object({
  /** Required, except on the path of released clients, which omit it before the customer has signed in. */
  applicationUsername: nullableOptional(Username),
  /** `customer.id` of the buyer's own validation. Any other id is for a new customer. */
  customerId: nullableOptional(v.pipe(v.string(), v.maxLength(512))),
});

const TokenCreated = v.strictObject({ success: v.literal(true), clientToken: v.string() });
const TokenFailed = v.strictObject({ success: v.literal(false), message: v.string() });
const ClientTokenResponse = v.union([TokenCreated, TokenFailed]);

export const createClientToken = defineContract({
  id: 'create-client-token',
  area: 'braintree',
  summary: 'Create a client token for the payment form of the processor',
  method: 'POST',
  path: '/v3/processor_b/client-token',
  aliases: ['/v3/braintree/client-token'],
  keyLevel: 'public',
  errorFormat: 'client-token',
  eventType: 'client-token.created',
  body: ClientTokenRequest,
  response: ClientTokenResponse,
  permissions: ['stores'],
});

const accessToken = [
  'Token from the creation of the checkout session. It identifies the customer of Stripe.',
  'tok_3GkVt0m2b8ZyQw1xR7uN5s',
] as const;
const newAccessToken = ['Token for later requests, if it changed.', 'tok_9HmXs4p7d1AzTv3yU0wK2q'] as const;
const offerId = [
  'Offer as the price list returns it, `processor_a:{product}#{price}`.',
  'processor_a:prod_premium#price_monthly',
] as const;
const ok = ['The constant true.', true] as [string, true];

const descriptions = [
  describeObject('PricingPhase', PricingPhase, 'A phase of the price of an offer.', {
    priceMicros: ['Price in millionths of `currency`.', 4990000],
    currency: ['ISO 4217 code.', 'EUR'],
    billingPeriod: ['ISO 8601 duration between two payments. Absent for a single payment.', 'P1M'],
    recurrenceMode: ['Whether the phase repeats without end, a number of times, or never.', 'INFINITE_RECURRING'],
    paymentMode: ['Form of the payment.', 'PayAsYouGo'],
  }),
  describeObject('PriceListOffer', PriceListOffer, 'A price of a product.', {
    id: ['Id of the offer, `processor_a:{product}#{price}`.', 'processor_a:prod_premium#price_monthly'],
    productId: ['Product with its platform prefix.', 'processor_a:prod_premium'],
    productType: ['Type of the product.', 'paid subscription'],
    platform: ['The platform.', 'processor_a'],
    offerType: ['`Subscription` for a recurring price.', 'Subscription'],
    pricingPhases: ['The phases, in the order of time.'],
  }),
  describeObject('PriceListProduct', PriceListProduct, 'A product with its prices.', {
    type: ['Type of the product.', 'paid subscription'],
    id: ['Product with its platform prefix.', 'processor_a:prod_premium'],
    title: ['Name of the product.', 'Premium'],
    description: ['Description of the product.', 'All features'],
    metadata: ['Metadata of the product at Stripe.', { tier: '2' }],
    platform: ['The platform.', 'processor_a'],
    offers: ['Its prices.'],
  }),
  describeObject('PurchaseWithOffer', PurchaseWithOffer, 'A purchase with its offer.', {
    ...purchaseTexts,
    offerId: ['Offer of the purchase, as in the price list.', 'processor_a:prod_premium#price_monthly'],
  }),
  describeObject('CheckoutRequest', CheckoutRequest, 'The offer to sell.', {
    offerId,
    applicationUsername,
    successUrl: ['URL to which the customer returns after the payment.', 'https://app.example.org/success'],
    cancelUrl: ['URL to which the customer returns after a cancellation.', 'https://app.example.org/cancel'],
    mode: ['The default is `subscription` for a recurring price, else `payment`.', 'subscription'],
    accessToken: [
      'Token of an earlier checkout session, for the same customer of Stripe. An invalid token counts as none.',
      'tok_3GkVt0m2b8ZyQw1xR7uN5s',
    ],
  }),
  describeObject('CheckoutSession', CheckoutSession, 'The created checkout session.', {
    ok,
    sessionId: ['Id of the session at Stripe.', 'cs_test_a1B2c3'],
    url: ['URL of the payment page. Redirect the customer to it.', 'https://checkout.stripe.com/c/pay/cs_test_a1B2c3'],
    accessToken: [
      'Token with which your app queries the purchase. Keep it with the customer.',
      'tok_3GkVt0m2b8ZyQw1xR7uN5s',
    ],
  }),
  describeObject('PlanChange', PlanChange, 'The new plan of a subscription.', {
    id: ['Id of the subscription (`sub_…`). Without it, the token identifies the subscription.', 'sub_1A2b3C'],
    purchaseId: ['The same with a platform prefix.', 'processor_a:sub_1A2b3C'],
    accessToken,
    offerId,
  }),
  describeObject('ChangedPlan', ChangedPlan, 'The changed subscription.', {
    ok,
    purchase: ['The purchase after the change.'],
    newAccessToken,
  }),
  describeObject('PortalRequest', PortalRequest, 'The customer of the portal session.', {
    id: [
      'Id of the checkout session (`cs_…`) or subscription (`sub_…`). Without it, the token identifies the customer.',
      'sub_1A2b3C',
    ],
    accessToken,
    returnUrl: ['URL to which the customer returns.', 'https://app.example.org/account'],
  }),
  describeObject('PortalSession', PortalSession, 'The created portal session.', {
    ok,
    url: ['URL of the portal. Redirect the customer to it.', 'https://billing.stripe.com/p/session/test_a1B2c3'],
  }),
  describeObject('PriceList', PriceList, 'The price list.', {
    ok,
    products: ['The products with their prices.'],
  }),
  describeObject('ProcessorPurchases', ProcessorPurchases, 'The purchases of the customer.', {
    ok,
    purchases: ['The purchases, as Stripe reports them now.'],
    newAccessToken,
  }),
  describeObject('ClientTokenRequest', ClientTokenRequest, 'The customer of the payment form.', {
    applicationUsername,
    customerId: ["`customer.id` of the customer's own validation. Absent for a new customer.", 'c_8f14e45fceea167a'],
  }),
  describeObject('ClientToken', TokenCreated, 'The created client token.', {
    success: ['The constant true.', true],
    clientToken: ["Token for Braintree's client SDK.", 'eyJ2ZXJzaW9uIjoyfQ=='],
  }),
  describeObject('ClientTokenFailure', TokenFailed, 'Why no client token was created. The HTTP status is 200.', {
    success: ['The constant false.', false],
    message: ['Error message.', 'Braintree is unavailable. Try again later.'],
  }),
  describeValue('ClientTokenResponse', ClientTokenResponse, 'The client token, or why there is none.'),
];

const operations = [
  describeOperation(createCheckout, {
    description: 'Creates a checkout session for an offer. Redirect the customer to its `url`.',
    errors: { 409: ['The same operation is in progress in another request.'] },
  }),
  describeOperation(changePlan, {
    description: 'Changes the plan of a subscription immediately. Stripe computes the proration.',
    errors: { 409: ['The same operation is in progress in another request.'] },
  }),
  describeOperation(createPortal, {
    description:
      'Creates a session of the customer portal, in which the customer manages subscriptions and payment methods.',
    errors: { 409: ['The same operation is in progress in another request.'] },
  }),
  describeOperation(getPrices, {
    description: 'Lists the products and prices that are configured at Stripe. The list is cached for 5 minutes.',
  }),
  describeOperation(getProcessorPurchases, {
    description:
      'Lists the current purchases of a customer at Stripe: by access token, which queries Stripe and records them, or, with the secret key or a viewer key, by username as they are recorded. A viewer key must not send an access token.',
    query: { accessToken, applicationUsername },
  }),
  describeOperation(createClientToken, {
    description: "Creates a client token for Braintree's payment form.",
  }),
];

export const processorApi: ApiPart = { descriptions, operations };
