import * as v from 'valibot';
import { describeObject, describeValue } from '../api/describe.ts';

const text = v.string();
const optionalText = v.exactOptional(text);

/**
 * Members of `transaction` by `type`. Adapters read them leniently, because released clients send them in many forms,
 * so these schemas describe what a new client must send. The emulator's and the released clients' bodies match them.
 */
const classic = { id: optionalText, appStoreReceipt: text, transactionReceipt: optionalText };
const signed = { id: optionalText, appAppleId: v.exactOptional(v.number()), jwsRepresentation: text };
const play = { id: optionalText, purchaseToken: text, receipt: optionalText, signature: optionalText };
const microsoft = { id: optionalText, storeId: optionalText, skuId: optionalText };
const charge = { id: text };
const payment = {
  id: v.exactOptional(v.unknown()),
  paymentMethodNonce: text,
  deviceData: v.exactOptional(v.unknown()),
};
const library = { adapter: v.exactOptional(v.picklist(['processor_a', 'stripe'])), accessToken: text };

// @__NO_SIDE_EFFECTS__
const variant = <const T extends string, const E extends v.ObjectEntries>(type: T, members: E) =>
  v.looseObject({ type: v.literal(type), ...members });

const AppStoreReceipt = variant('ios-store', classic);
const AppStoreReceiptBrand = variant('ios-appstore', classic);
const AppStoreTransaction = variant('store_a-signed', signed);
const AppStoreTransactionBrand = variant('apple-sk2', signed);
const PlayPurchase = variant('android-store', play);
const PlayPurchaseBrand = variant('android-playstore', play);
const MicrosoftPurchase = variant('store_c-transaction', microsoft);
const MicrosoftPurchaseBrand = variant('windows-store-transaction', microsoft);
const StripeCharge = variant('processor_a-charge', charge);
const StripeChargeBrand = variant('stripe-charge', charge);
const BraintreePayment = variant('processor_b', payment);
const BraintreePaymentBrand = variant('braintree', payment);
const AccessToken = variant('client-library', library);
const AccessTokenBrand = variant('iaptic', library);

/** The evidence of a purchase in the body of a validation. */
export const ReceiptTransaction = v.variant('type', [
  AppStoreReceipt,
  AppStoreTransaction,
  PlayPurchase,
  MicrosoftPurchase,
  StripeCharge,
  BraintreePayment,
  AccessToken,
  AppStoreReceiptBrand,
  AppStoreTransactionBrand,
  PlayPurchaseBrand,
  MicrosoftPurchaseBrand,
  StripeChargeBrand,
  BraintreePaymentBrand,
  AccessTokenBrand,
]);

// @__NO_SIDE_EFFECTS__
const type = <const T extends string>(value: T) => [`The constant \`${value}\`.`, value] as [string, T];

const classicFields = {
  id: ['Transaction to validate, or the id of the app.', '2000000987654321'],
  appStoreReceipt: [
    'Receipt of the app, in base64. A signed transaction (JWS) is accepted, too.',
    'MIIT1AYJKoZIhvcNAQcCoIITxTCCE8ECAQEx',
  ],
  transactionReceipt: [
    'Receipt of a transaction, in base64. Deprecated: send `appStoreReceipt`.',
    'ewoJInNpZ25hdHVyZSIgPSAiQWc',
  ],
} as const;
const signedFields = {
  id: ['Product or app id.', 'premium'],
  appAppleId: [
    'Numeric id of the app in the App Store. A production transaction is rejected if it has a different one.',
    1234567890,
  ],
  jwsRepresentation: [
    '`jwsRepresentation` of a StoreKit 2 transaction or app transaction.',
    'eyJhbGciOiJFUzI1NiIsIng1YyI6W119.eyJidW5kbGVJZCI6ImNvbS5leGFtcGxlIn0.c2lnbmF0dXJl',
  ],
} as const;
const playFields = {
  id: ['Order id.', 'GPA.3345-1234-5678-90123'],
  purchaseToken: ['Purchase token of Google Play Billing.', 'opaque-token.AO-J1OxTDPY2example'],
  receipt: [
    '`originalJson` of the purchase, unchanged: the signature covers this text.',
    '{"orderId":"GPA.3345-1234-5678-90123","packageName":"com.example","productId":"premium"}',
  ],
  signature: ['Signature of `receipt`, in base64.', 'c2lnbmF0dXJl'],
} as const;
const microsoftFields = {
  id: ['Product id.', '9NBLGGH4R315'],
  storeId: ['Store ID of the product.', '9NBLGGH4R315'],
  skuId: ['Store ID of the SKU.', '9NBLGGH4R315/0010'],
} as const;
const chargeFields = {
  id: ['Id of a charge, payment intent, subscription or checkout session.', 'ch_3N1a2b3c4d5e6f'],
} as const;
const paymentFields = {
  id: ['Not used.', 'nonce'],
  paymentMethodNonce: ["Nonce of Braintree's client SDK. The validation charges it.", 'tokencc_bj_9h3k2m_7f5d8s'],
  deviceData: ["Device data of Braintree's client SDK.", '{"correlation_id":"1a2b3c4d"}'],
} as const;
const libraryFields = {
  adapter: ['The platform behind the client library.', 'processor_a'],
  accessToken: ['Token from the creation of the checkout session.', 'tok_3GkVt0m2b8ZyQw1xR7uN5s'],
} as const;

const brand = 'The same with the brand token, so the response has brand tokens.';

export const evidenceDescriptions = [
  describeObject('AppStoreReceipt', AppStoreReceipt, 'Receipt of the app from StoreKit 1 (store_a).', {
    type: type('ios-store'),
    ...classicFields,
  }),
  describeObject('AppStoreTransaction', AppStoreTransaction, 'Signed transaction of StoreKit 2 (store_a).', {
    type: type('store_a-signed'),
    ...signedFields,
  }),
  describeObject('PlayPurchase', PlayPurchase, 'Purchase of Google Play (store_b).', {
    type: type('android-store'),
    ...playFields,
  }),
  describeObject(
    'MicrosoftPurchase',
    MicrosoftPurchase,
    'Purchase of the Microsoft Store (store_c). The keys are in `license`.',
    { type: type('store_c-transaction'), ...microsoftFields },
  ),
  describeObject('StripeCharge', StripeCharge, 'Payment of Stripe (processor_a).', {
    type: type('processor_a-charge'),
    ...chargeFields,
  }),
  describeObject(
    'BraintreePayment',
    BraintreePayment,
    'Payment of Braintree (processor_b). The validation makes the payment.',
    { type: type('processor_b'), ...paymentFields },
  ),
  describeObject('AccessToken', AccessToken, 'Access token of a checkout session (processor_a).', {
    type: type('client-library'),
    ...libraryFields,
  }),
  describeObject('AppStoreReceiptBrand', AppStoreReceiptBrand, brand, { type: type('ios-appstore'), ...classicFields }),
  describeObject('AppStoreTransactionBrand', AppStoreTransactionBrand, brand, {
    type: type('apple-sk2'),
    ...signedFields,
  }),
  describeObject('PlayPurchaseBrand', PlayPurchaseBrand, brand, { type: type('android-playstore'), ...playFields }),
  describeObject('MicrosoftPurchaseBrand', MicrosoftPurchaseBrand, brand, {
    type: type('windows-store-transaction'),
    ...microsoftFields,
  }),
  describeObject('StripeChargeBrand', StripeChargeBrand, brand, { type: type('stripe-charge'), ...chargeFields }),
  describeObject('BraintreePaymentBrand', BraintreePaymentBrand, brand, { type: type('braintree'), ...paymentFields }),
  describeObject('AccessTokenBrand', AccessTokenBrand, brand, { type: type('iaptic'), ...libraryFields }),
  describeValue('ReceiptTransaction', ReceiptTransaction, 'Evidence of a purchase, by store. `type` selects the form.'),
];

/** Evidence of each store, for the examples of the request. */
export const receiptExamples = [
  {
    name: 'appStoreTransaction',
    summary: 'App Store, StoreKit 2',
    fields: { type: type('store_a-signed'), ...signedFields },
  },
  { name: 'appStoreReceipt', summary: 'App Store, app receipt', fields: { type: type('ios-store'), ...classicFields } },
  { name: 'googlePlay', summary: 'Google Play', fields: { type: type('android-store'), ...playFields } },
  {
    name: 'microsoftStore',
    summary: 'Microsoft Store',
    fields: { type: type('store_c-transaction'), ...microsoftFields },
  },
  { name: 'stripe', summary: 'Stripe, a charge', fields: { type: type('processor_a-charge'), ...chargeFields } },
  {
    name: 'stripeAccessToken',
    summary: 'Stripe, an access token',
    fields: { type: type('client-library'), ...libraryFields },
  },
  { name: 'braintree', summary: 'Braintree', fields: { type: type('processor_b'), ...paymentFields } },
];
