import * as v from 'valibot';
import { describeObject, describeOperation, describeValue } from '../describe.ts';
import { ValidateReceiptBody } from '../validate-receipt-body.ts';
import {
  NativeTransaction,
  ValidationData,
  ValidationErrorMessage,
  ValidationFailure,
  ValidationFailureData,
  ValidationSuccess,
  ValidatorPurchase,
  validateReceipt,
} from '../validation.ts';
import { ReceiptTransaction, receiptExamples } from './receipts.ts';

const { additionalData: _lenientData, license: _lenientLicense, ...readEntries } = ValidateReceiptBody.entries;

const optionalText = v.exactOptional(v.string());
const PeriodUnit = v.picklist(['Day', 'Week', 'Month', 'Year']);

const AdditionalData = v.object({ applicationUsername: optionalText, obfuscatedUsername: optionalText });
const License = v.object({ storeIdKey_collections: optionalText, storeIdKey_purchases: optionalText });
const ClientPricingPhase = v.looseObject({
  priceMicros: v.exactOptional(v.number()),
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
  introPriceMicros: v.exactOptional(v.number()),
  introPricePeriod: v.exactOptional(v.number()),
  introPricePeriodUnit: v.exactOptional(PeriodUnit),
  trialPeriod: v.exactOptional(v.number()),
  trialPeriodUnit: v.exactOptional(PeriodUnit),
  device: v.exactOptional(v.looseObject({})),
});

const ignored = 'Accepted from released clients and not used.';
const errorNumber = [
  'Number of the error code: 6778001 `InvalidPayload`, 6778002 `ConnectionFailed`, 6778003 `PurchaseExpired`, 6778004 `PurchaseConsumed`, 6778005 `InternalError`, 6778006 `NeedMoreData`, 7691001 `AppNotFound`, 7691002 `Conflict`, 7691003 `Forbidden`, 7691004 `DatabaseError`.',
  6778003,
] as const;
const message = ['Error message.', 'Transaction has expired or was cancelled.'] as const;

export const validationDescriptions = [
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
  describeObject(
    'ValidatorPurchase',
    ValidatorPurchase,
    'A purchase of the receipt: ids without platform prefix, dates in epoch milliseconds.',
    {
      id: ['Product id.', 'premium'],
      platform: ['Store of the purchase, with a neutral or a brand token, like the request.', 'store_a'],
      purchaseId: ['Id of the purchase, the same for all renewals.', '2000000123456789'],
      transactionId: ['Id of the latest transaction.', '2000000987654321'],
      purchaseDate: ['Date of the first transaction.', 1768469400000],
      expiryDate: ['Date at which the subscription expires or renews.', 1773567000000],
      isExpired: ['Whether the purchase gives no access.', false],
      unverifiedSince: [
        'Renewal date since which the store could not be queried. Absent if the state is verified.',
        1773567000000,
      ],
      renewalIntent: ['Whether the subscription will renew.'],
      renewalIntentChangeDate: ['Date at which the renewal intent changed.', 1771574400000],
      cancelationReason: ['Why the purchase ended or does not renew. Absent if it was not canceled.'],
      isBillingRetryPeriod: ['Whether the subscription is in its grace period after a failed payment.', false],
      isTrialPeriod: ['Whether the subscription is in a free trial.', false],
      isIntroPeriod: ['Whether the subscription is in an introductory period.', false],
      isAcknowledged: ['Whether the purchase is acknowledged at the store.', true],
      isConsumed: ['Whether the consumable is consumed at the store.', false],
      discountId: ['Id of the applied discount.', 'winter-sale'],
      priceConsentStatus: ['Whether the customer agreed to a price increase.'],
      lastRenewalDate: ['Date of the latest renewal.', 1771147800000],
      quantity: ['Number of units of the latest transaction. Meaningful for consumables only.', 1],
      isSuspended: ['Whether the purchase is paused or on hold and gives no access.', false],
    },
  ),
  describeObject(
    'NativeTransaction',
    NativeTransaction,
    "The store's own transaction. Its other members depend on the store.",
    {
      type: ['The `type` of the request.', 'ios-store'],
    },
  ),
  describeObject('ValidationData', ValidationData, 'The validated product and the purchases of the receipt.', {
    id: ['The validated product.', 'premium'],
    latest_receipt: ['The constant true.', true],
    transaction: ["The store's own transaction."],
    collection: ['Purchases of the receipt that the customer owns, active ones first.'],
    ineligible_for_intro_price: ['Products whose introductory price the customer has used.', ['premium']],
    warning: [
      'Why the response has the last verified state: the store is unavailable.',
      'The App Store is unavailable. This is the last verified state.',
    ],
    date: ['Date of the response.', '2026-02-15T09:30:05.000Z'],
  }),
  describeObject('ValidationSuccess', ValidationSuccess, 'The receipt is valid and the product is owned.', {
    ok: ['The constant true.', true],
    data: ['The validated product and the purchases of the receipt.'],
  }),
  describeObject('ValidationErrorMessage', ValidationErrorMessage, 'The error message for released clients.', {
    message,
  }),
  describeObject(
    'ValidationFailureData',
    ValidationFailureData,
    'Details of the error. A missing StoreID key adds `serviceTicket` and `serviceTicketType`.',
    {
      latest_receipt: ['The constant true.', true],
      code: errorNumber,
      error: ['The error message.'],
    },
  ),
  describeObject(
    'ValidationFailure',
    ValidationFailure,
    'The receipt is not valid, the product is not owned, or the validation failed. The HTTP status is 200.',
    {
      ok: ['The constant false.', false],
      route: ['Path of the operation.', '/v1/validate'],
      status: ['HTTP status of the error code.', 419],
      code: errorNumber,
      message,
      data: ['Details of the error.'],
    },
  ),
  describeValue('ValidationResponse', validateReceipt.response, 'Result of the validation. `ok` selects the form.'),
];

const exampleBody = { id: 'premium', type: 'paid subscription', additionalData: { applicationUsername: 'alice' } };

export const validationOperations = [
  describeOperation(validateReceipt, {
    description:
      'Validates a receipt with its store, records its purchases and entitles the customer. Released clients send null, empty strings and unknown members; only an invalid `id`, `type` or `transaction` is an error. A failed validation has the HTTP status 200 and `ok: false`.',
    body: ValidationRequestBody,
    bodyExamples: Object.fromEntries(
      receiptExamples.map(({ name, summary, fields }) => [
        name,
        {
          summary,
          value: {
            ...exampleBody,
            transaction: Object.fromEntries(Object.entries(fields).map(([member, [, example]]) => [member, example])),
          },
        },
      ]),
    ),
  }),
];
