import * as v from 'valibot';
import { describeObject } from '../api/describe.ts';
import {
  CurrencyCode,
  invalidAsAbsent,
  nullableOptional,
  OptionalNumber,
  OptionalText,
  Username,
} from '../api/schemas.ts';
import { ReceiptTransaction } from './evidence-contract.ts';

const LenientText = invalidAsAbsent(v.pipe(v.string(), v.minLength(1)));
const LenientNumber = invalidAsAbsent(
  v.union([v.pipe(v.number(), v.finite()), v.pipe(v.string(), v.trim(), v.decimal(), v.transform(Number))]),
);

/** Price from the client in micros, rounded; at most one billion units of the currency. */
const LenientMicros = invalidAsAbsent(
  v.pipe(LenientNumber, v.number(), v.transform(Math.round), v.minValue(0), v.maxValue(1e15)),
);

/** A username as clients send it. Numbers become strings; null and the empty string count as absent. */
const OptionalUsername = v.union([
  v.pipe(
    v.nullish(v.literal('')),
    v.transform(() => undefined),
  ),
  v.pipe(v.union([v.string(), v.pipe(v.number(), v.transform(String))]), Username),
]);

/** Fields that the documented body has, too. It only describes `transaction` more exactly. */
const readEntries = {
  id: v.pipe(v.string(), v.minLength(1), v.maxLength(512)),
  type: v.picklist(['application', 'paid subscription', 'non renewing subscription', 'consumable', 'non consumable']),
  transaction: v.looseObject({ type: v.pipe(v.string(), v.maxLength(100)) }),
  priceMicros: LenientMicros,
  currency: invalidAsAbsent(CurrencyCode),
  countryCode: LenientText,
  billingPeriod: LenientNumber,
  billingPeriodUnit: invalidAsAbsent(v.picklist(['Day', 'Week', 'Month', 'Year'])),
  products: invalidAsAbsent(v.array(v.unknown())),
};

/**
 * Released clients send their whole product object, with nulls, empty strings and numbers as strings. Only an invalid
 * `id`, `type` or `transaction` rejects the request; other invalid fields count as absent.
 */
export const ValidateReceiptBody = v.object({
  ...readEntries,
  additionalData: nullableOptional(
    v.object({ applicationUsername: v.optional(OptionalUsername), obfuscatedUsername: invalidAsAbsent(Username) }),
  ),
  license: invalidAsAbsent(v.looseObject({ storeIdKey_collections: LenientText, storeIdKey_purchases: LenientText })),
});
export type ValidateReceiptBody = v.InferOutput<typeof ValidateReceiptBody>;

const optionalText = OptionalText;
const PeriodUnit = v.picklist(['Day', 'Week', 'Month', 'Year']);

const AdditionalData = v.object({ applicationUsername: optionalText, obfuscatedUsername: optionalText });
const License = v.object({ storeIdKey_collections: optionalText, storeIdKey_purchases: optionalText });
const ClientPricingPhase = v.looseObject({
  priceMicros: OptionalNumber,
  currency: optionalText,
  billingPeriod: optionalText,
  recurrenceMode: optionalText,
  paymentMode: optionalText,
});
const ClientOffer = v.looseObject({
  id: optionalText,
  productId: optionalText,
  productType: optionalText,
  platform: optionalText,
  offerType: optionalText,
  productGroup: optionalText,
  pricingPhases: v.exactOptional(v.array(ClientPricingPhase)),
});
const ClientProduct = v.looseObject({
  id: v.string(),
  type: optionalText,
  title: optionalText,
  description: optionalText,
  platform: optionalText,
  countryCode: optionalText,
  group: optionalText,
  offers: v.exactOptional(v.array(ClientOffer)),
});

/** The documented body: the members that the service reads, and members of released clients that it ignores. */
export const ValidationRequestBody = v.object({
  ...readEntries,
  transaction: ReceiptTransaction,
  additionalData: v.exactOptional(AdditionalData),
  license: v.exactOptional(License),
  products: v.exactOptional(v.array(ClientProduct)),
  offers: v.exactOptional(v.array(ClientOffer)),
  group: optionalText,
  introPriceMicros: OptionalNumber,
  introPricePeriod: OptionalNumber,
  introPricePeriodUnit: v.exactOptional(PeriodUnit),
  trialPeriod: OptionalNumber,
  trialPeriodUnit: v.exactOptional(PeriodUnit),
  device: v.exactOptional(v.looseObject({})),
});

const ignored = 'Accepted from released clients and not used.';

export const validationRequestDescriptions = [
  describeObject('AdditionalData', AdditionalData, 'The customer of the validation.', {
    applicationUsername: [
      "The customer's username in your app. Without it, the purchases are recorded without an owner.",
      'alice',
    ],
    obfuscatedUsername: [
      'Form of the username that your app passed to the store.',
      'b6589fc6-ab0d-c82c-f120-99d1c2d40ab9',
    ],
  }),
  describeObject('License', License, 'StoreID keys of the Microsoft Store.', {
    storeIdKey_collections: ['StoreID key of the collections service.', 'eyJhbGciOiJSUzI1NiJ9.eyJ1IjoiYWxpY2UifQ.c2ln'],
    storeIdKey_purchases: ['StoreID key of the purchase service.', 'eyJhbGciOiJSUzI1NiJ9.eyJ1IjoiYWxpY2UifQ.c2ln'],
  }),
  describeObject('ClientPricingPhase', ClientPricingPhase, 'A phase of the price, in the data of the app.', {
    priceMicros: ['Price in millionths of `currency`.', 4990000],
    currency: ['ISO 4217 code.', 'EUR'],
    billingPeriod: ['ISO 8601 duration between two payments.', 'P1M'],
    recurrenceMode: ['Repetition of the phase.', 'INFINITE_RECURRING'],
    paymentMode: ['Form of the payment.', 'PayAsYouGo'],
  }),
  describeObject('ClientOffer', ClientOffer, 'An offer, in the data of the app.', {
    id: ['Id of the offer.', 'premium$monthly'],
    productId: ['Product of the offer.', 'premium'],
    productType: ['Type of the product.', 'paid subscription'],
    platform: ['Platform of the offer.', 'android-playstore'],
    offerType: ['Type of the offer.', 'Default'],
    productGroup: ['Subscription group.', 'premium-plans'],
    pricingPhases: ['Phases of the price.'],
  }),
  describeObject('ClientProduct', ClientProduct, 'A product that the app sells.', {
    id: ['Product id, unique for the platform.', 'premium'],
    type: ['Type of the product.', 'paid subscription'],
    title: ['Name of the product.', 'Premium'],
    description: ['Description of the product.', 'All features'],
    platform: ['Platform of the product.', 'android-playstore'],
    countryCode: ['Country of the store account.', 'DEU'],
    group: ['Subscription group. Decides for which products the introductory price was used.', 'premium-plans'],
    offers: ['Offers of the product.'],
  }),
  describeObject('ValidationRequest', ValidationRequestBody, 'A receipt with the product to validate.', {
    id: ['Product to validate. With the type `application`, the id of the app.', 'premium'],
    type: [
      'Type of the product. `application` validates all purchases of an app receipt (store_a only).',
      'paid subscription',
    ],
    transaction: ['Evidence of the purchase.'],
    additionalData: ['The customer, if the user of the app has signed in.'],
    license: ['StoreID keys (store_c only).'],
    priceMicros: [
      'Price in millionths of `currency`, for stores that do not return it. It is used for statistics only.',
      4990000,
    ],
    currency: ['ISO 4217 code of the currency of the price.', 'EUR'],
    countryCode: ['Country of the store account.', 'DEU'],
    billingPeriod: ['Number of units between two payments, for stores that do not return it.', 1],
    billingPeriodUnit: ['Unit of `billingPeriod`.', 'Month'],
    products: ['Products that the app sells.'],
    offers: [ignored],
    group: [ignored, 'premium-plans'],
    introPriceMicros: [ignored, 990000],
    introPricePeriod: [ignored, 1],
    introPricePeriodUnit: [ignored, 'Month'],
    trialPeriod: [ignored, 7],
    trialPeriodUnit: [ignored, 'Day'],
    device: [ignored, { platform: 'iOS' }],
  }),
];
