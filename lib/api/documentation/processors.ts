import { createClientToken } from '../braintree.ts';
import { describeObject, describeOperation, describeValue } from '../describe.ts';
import { applicationUsername } from '../parameters.ts';
import {
  changePlan,
  createCheckout,
  createPortal,
  getPrices,
  getProcessorPurchases,
  PriceListOffer,
  PriceListProduct,
  PricingPhase,
  PurchaseWithOffer,
} from '../stripe.ts';
import { purchaseFields } from './purchases.ts';

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
const [TokenCreated, TokenFailed] = createClientToken.response.options;

export const processorDescriptions = [
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
    ...purchaseFields,
    offerId: ['Offer of the purchase, as in the price list.', 'processor_a:prod_premium#price_monthly'],
  }),
  describeObject('CheckoutRequest', createCheckout.body, 'The offer to sell.', {
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
  describeObject('CheckoutSession', createCheckout.response, 'The created checkout session.', {
    ok,
    sessionId: ['Id of the session at Stripe.', 'cs_test_a1B2c3'],
    url: ['URL of the payment page. Redirect the customer to it.', 'https://checkout.stripe.com/c/pay/cs_test_a1B2c3'],
    accessToken: [
      'Token with which your app queries the purchase. Keep it with the customer.',
      'tok_3GkVt0m2b8ZyQw1xR7uN5s',
    ],
  }),
  describeObject('PlanChange', changePlan.body, 'The new plan of a subscription.', {
    id: ['Id of the subscription (`sub_…`). Without it, the token identifies the subscription.', 'sub_1A2b3C'],
    purchaseId: ['The same with a platform prefix.', 'processor_a:sub_1A2b3C'],
    accessToken,
    offerId,
  }),
  describeObject('ChangedPlan', changePlan.response, 'The changed subscription.', {
    ok,
    purchase: ['The purchase after the change.'],
    newAccessToken,
  }),
  describeObject('PortalRequest', createPortal.body, 'The customer of the portal session.', {
    id: [
      'Id of the checkout session (`cs_…`) or subscription (`sub_…`). Without it, the token identifies the customer.',
      'sub_1A2b3C',
    ],
    accessToken,
    returnUrl: ['URL to which the customer returns.', 'https://app.example.org/account'],
  }),
  describeObject('PortalSession', createPortal.response, 'The created portal session.', {
    ok,
    url: ['URL of the portal. Redirect the customer to it.', 'https://billing.stripe.com/p/session/test_a1B2c3'],
  }),
  describeObject('PriceList', getPrices.response, 'The price list.', {
    ok,
    products: ['The products with their prices.'],
  }),
  describeObject('ProcessorPurchases', getProcessorPurchases.response, 'The purchases of the customer.', {
    ok,
    purchases: ['The purchases, as Stripe reports them now.'],
    newAccessToken,
  }),
  describeObject('ClientTokenRequest', createClientToken.body, 'The customer of the payment form.', {
    applicationUsername,
    customerId: ["`customer.id` of the customer's own validation. Absent for a new customer.", 'c_8f14e45fceea167a'],
  }),
  describeObject('ClientToken', TokenCreated, 'The created client token.', {
    success: ['The constant true.', true],
    clientToken: ["Token for Braintree's client SDK.", 'eyJ2ZXJzaW9uIjoyfQ=='],
  }),
  describeObject(
    'ClientTokenFailure',
    TokenFailed,
    'Why no client token was created. The HTTP status is 400 or 413 for an invalid request, otherwise 200.',
    {
      success: ['The constant false.', false],
      message: ['Error message.', 'Braintree is unavailable. Try again later.'],
    },
  ),
  describeValue('ClientTokenResponse', createClientToken.response, 'The client token, or why there is none.'),
];

export const processorOperations = [
  describeOperation(createCheckout, {
    description: 'Creates a checkout session for an offer. Redirect the customer to its `url`.',
  }),
  describeOperation(changePlan, {
    description: 'Changes the plan of a subscription immediately. Stripe computes the proration.',
  }),
  describeOperation(createPortal, {
    description:
      'Creates a session of the customer portal, in which the customer manages subscriptions and payment methods.',
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
