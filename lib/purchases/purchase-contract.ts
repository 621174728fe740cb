import * as v from 'valibot';
import { describeObject, describeValue } from '../api/describe.ts';
import {
  CancelationReason,
  DateTime,
  OptionalBoolean,
  OptionalDateTime,
  OptionalNumber,
  OptionalText,
  PlatformToken,
  PriceConsentStatus,
  RenewalIntent,
} from '../api/schemas.ts';

const purchaseFields = {
  purchaseId: v.string(),
  transactionId: v.string(),
  productId: v.string(),
  platform: PlatformToken,
  sandbox: OptionalBoolean,
  purchaseDate: OptionalDateTime,
  lastRenewalDate: OptionalDateTime,
  expirationDate: OptionalDateTime,
  renewalIntent: v.exactOptional(RenewalIntent),
  renewalIntentChangeDate: OptionalDateTime,
  cancelationReason: v.exactOptional(CancelationReason),
  isPending: OptionalBoolean,
  isAcknowledged: OptionalBoolean,
  isConsumed: OptionalBoolean,
  isBillingRetryPeriod: OptionalBoolean,
  isTrialPeriod: OptionalBoolean,
  isIntroPeriod: OptionalBoolean,
  priceConsentStatus: v.exactOptional(PriceConsentStatus),
  discountId: OptionalText,
  quantity: OptionalNumber,
  currency: OptionalText,
  isSharedPurchase: OptionalBoolean,
  isExpired: OptionalBoolean,
  // Spec: not shown. The expiration date that the store reported, if the state after it could not be verified.
  unverifiedSince: OptionalDateTime,
  isPaused: OptionalBoolean,
  autoResumeDate: OptionalDateTime,
  amountUSD: v.exactOptional(v.nullable(v.number())),
  amountMicros: v.exactOptional(v.nullable(v.number())),
};

export const PurchaseRecord = v.strictObject(purchaseFields);
export type PurchaseRecord = v.InferOutput<typeof PurchaseRecord>;

/** A lifecycle reason of a purchase; other reasons are not listed. */
export const PurchaseNotification = v.strictObject({ date: DateTime, reason: v.string() });
export type PurchaseNotification = v.InferOutput<typeof PurchaseNotification>;

export const PurchaseDetails = v.strictObject({
  ...purchaseFields,
  entitledUsers: v.array(v.string()),
  notifications: v.exactOptional(v.array(PurchaseNotification)),
});
export type PurchaseDetails = v.InferOutput<typeof PurchaseDetails>;

/** A purchase in a list of purchases. */
export const PurchaseRow = v.strictObject({
  ...PurchaseDetails.entries,
  /** Private in the specification. The service does not keep the store's response. */
  raw: v.nullable(v.record(v.string(), v.unknown())),
  canRefresh: v.boolean(),
});
export type PurchaseRow = v.InferOutput<typeof PurchaseRow>;

/** Purchases of a customer by product id with platform prefix. */
export const PurchaseCollection = v.record(v.string(), PurchaseRecord);
const OptionalEpochMs = OptionalNumber;

/** An element of `data.collection`: ids without platform prefix, dates in epoch milliseconds. */
export const ValidatorPurchase = v.strictObject({
  id: v.string(),
  platform: v.string(),
  purchaseId: v.string(),
  transactionId: v.string(),
  purchaseDate: OptionalEpochMs,
  expiryDate: OptionalEpochMs,
  /** Absent unless true for a product that can be bought again. */
  isExpired: OptionalBoolean,
  // Spec: not shown. See `PurchaseRecord`.
  unverifiedSince: OptionalEpochMs,
  renewalIntent: v.exactOptional(RenewalIntent),
  renewalIntentChangeDate: OptionalEpochMs,
  cancelationReason: v.exactOptional(CancelationReason),
  isBillingRetryPeriod: OptionalBoolean,
  isTrialPeriod: OptionalBoolean,
  isIntroPeriod: OptionalBoolean,
  isAcknowledged: OptionalBoolean,
  isConsumed: OptionalBoolean,
  discountId: OptionalText,
  priceConsentStatus: v.exactOptional(PriceConsentStatus),
  lastRenewalDate: OptionalEpochMs,
  quantity: OptionalNumber,
  /** The purchase is paused or on hold and so does not give access. react-native-iaptic reads it. */
  isSuspended: OptionalBoolean,
});
export type ValidatorPurchase = v.InferOutput<typeof ValidatorPurchase>;

export const purchaseTexts = {
  purchaseId: ['Id of the purchase with its platform prefix, the same for all renewals.', 'store_a:2000000123456789'],
  transactionId: ['Id of the latest transaction with its platform prefix.', 'store_a:2000000987654321'],
  productId: ['Product with its platform prefix, `{platform}:{productId}`.', 'store_a:premium'],
  platform: ['Store of the purchase.'],
  sandbox: ["Whether the purchase was made in the store's sandbox.", false],
  purchaseDate: ['Date of the purchase: for a subscription, of its first transaction.', '2026-01-15T09:30:00.000Z'],
  lastRenewalDate: ['Date of the latest renewal.', '2026-02-15T09:30:00.000Z'],
  expirationDate: ['Date at which the subscription expires or renews.', '2026-03-15T09:30:00.000Z'],
  renewalIntent: ['`Renew` if the subscription will renew at its end, otherwise `Lapse`.'],
  renewalIntentChangeDate: ['Date at which the renewal intent changed.', '2026-02-20T08:00:00.000Z'],
  cancelationReason: ['Why the purchase ended or does not renew. Absent if it was not canceled.'],
  isPending: ['The payment is pending. The purchase gives no access until it is paid.', false],
  isAcknowledged: ['The purchase is acknowledged at the store.', true],
  isConsumed: ['The consumable is consumed at the store.', false],
  isBillingRetryPeriod: ['The subscription is in its grace period after a failed payment.', false],
  isTrialPeriod: ['The subscription is in a free trial.', false],
  isIntroPeriod: ['The subscription is in an introductory period.', false],
  priceConsentStatus: ['Whether the customer agreed to a price increase.'],
  discountId: ['Id of the applied discount.', 'winter-sale'],
  quantity: ['Number of purchased units. Meaningful for consumables only.', 1],
  currency: ['ISO 4217 code of the currency of `amountMicros`.', 'EUR'],
  isSharedPurchase: ['Another store account made the purchase, for example in a family.', false],
  isExpired: ['The subscription has expired.', false],
  unverifiedSince: [
    'Renewal date since which the store could not be queried. Absent if the state is verified.',
    '2026-03-15T09:30:00.000Z',
  ],
  isPaused: ['The subscription is paused. It then gives no access.', false],
  autoResumeDate: [
    'Date of the automatic resume. Only present while the subscription is paused.',
    '2026-04-15T00:00:00.000Z',
  ],
  amountUSD: ['Amount of the latest transaction in US dollars, or null if it is unknown.', 5.42, 'decimal'],
  amountMicros: ['Amount of the latest transaction in millionths of `currency`, or null if it is unknown.', 4990000],
} as const;

export const entitledUsers = ['Usernames of the customers who own the purchase.', ['alice']] as [string, string[]];

export const purchaseDescriptions = [
  describeObject(
    'Purchase',
    PurchaseRecord,
    'A purchase: the state that results from all of its transactions.',
    purchaseTexts,
  ),
  describeObject('PurchaseNotification', PurchaseNotification, 'A change in the lifecycle of a purchase.', {
    date: ['Date of the change.', '2026-02-15T09:30:00.000Z'],
    reason: ['Kind of the change, such as `PURCHASED`, `RENEWED`, `EXPIRED` or `REFUNDED`.', 'RENEWED'],
  }),
  describeObject('PurchaseDetails', PurchaseDetails, 'A purchase with the customers who own it.', {
    ...purchaseTexts,
    entitledUsers,
    notifications: ['Its lifecycle notifications. Only present with `include_notifications=true`.'],
  }),
  describeObject('PurchaseRow', PurchaseRow, 'A purchase in a list.', {
    ...purchaseTexts,
    entitledUsers,
    notifications: ['Its lifecycle notifications. Only present with `include_notifications=true`.'],
    raw: ['Private. Null if no response of the store is kept.', {}],
    canRefresh: ['The service can query the store for the purchase again.', true],
  }),
  describeValue(
    'PurchaseCollection',
    PurchaseCollection,
    'Purchases of a customer, one for each product, by product id with platform prefix.',
  ),
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
      isExpired: ['The purchase gives no access.', false],
      unverifiedSince: [
        'Renewal date since which the store could not be queried. Absent if the state is verified.',
        1773567000000,
      ],
      renewalIntent: ['`Renew` if the subscription will renew at its end, otherwise `Lapse`.'],
      renewalIntentChangeDate: ['Date at which the renewal intent changed.', 1771574400000],
      cancelationReason: ['Why the purchase ended or does not renew. Absent if it was not canceled.'],
      isBillingRetryPeriod: ['The subscription is in its grace period after a failed payment.', false],
      isTrialPeriod: ['The subscription is in a free trial.', false],
      isIntroPeriod: ['The subscription is in an introductory period.', false],
      isAcknowledged: ['The purchase is acknowledged at the store.', true],
      isConsumed: ['The consumable is consumed at the store.', false],
      discountId: ['Id of the applied discount.', 'winter-sale'],
      priceConsentStatus: ['Whether the customer agreed to a price increase.'],
      lastRenewalDate: ['Date of the latest renewal.', 1771147800000],
      quantity: ['Number of units of the latest transaction. Meaningful for consumables only.', 1],
      isSuspended: ['The purchase is paused or on hold and gives no access.', false],
    },
  ),
];
