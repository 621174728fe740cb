import * as v from 'valibot';
import { CancelationReason, PlatformToken, PriceConsentStatus, RenewalIntent } from './enumerations.ts';
import { DateTime } from './schemas.ts';

export const OptionalBoolean = v.exactOptional(v.boolean());
export const OptionalText = v.exactOptional(v.string());
export const OptionalDateTime = v.exactOptional(DateTime);
const OptionalNumber = v.exactOptional(v.number());

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
  /** Whether the store can be queried for the purchase again. */
  canRefresh: v.boolean(),
});
export type PurchaseRow = v.InferOutput<typeof PurchaseRow>;

/** Purchases of a customer by product id with platform prefix. */
export const PurchaseCollection = v.record(v.string(), PurchaseRecord);

export const TransactionRecord = v.strictObject({
  transactionId: v.string(),
  purchaseId: v.string(),
  productId: v.string(),
  offerId: v.exactOptional(v.nullable(v.string())),
  platform: PlatformToken,
  sandbox: v.boolean(),
  purchaseDate: DateTime,
  expirationDate: OptionalDateTime,
  isPending: OptionalBoolean,
  isTrialPeriod: OptionalBoolean,
  isIntroPeriod: OptionalBoolean,
  quantity: OptionalNumber,
  amountUSD: v.nullable(v.number()),
  amountMicros: v.nullable(v.number()),
  currency: v.nullable(v.string()),
  // Spec: not shown. Tax within `amountMicros`, if the store reports it.
  taxMicros: OptionalNumber,
  isReportedAmount: OptionalBoolean,
  // Spec: not shown. State of the purchase, for its latest transaction only.
  isBillingRetryPeriod: OptionalBoolean,
  isAcknowledged: OptionalBoolean,
  renewalIntent: v.exactOptional(RenewalIntent),
  lastRenewalDate: OptionalDateTime,
  // Spec: not shown. The part of `amountMicros` that was refunded, and the date of the latest refund.
  refundedAmountMicros: OptionalNumber,
  refundDate: OptionalDateTime,
});
export type TransactionRecord = v.InferOutput<typeof TransactionRecord>;
