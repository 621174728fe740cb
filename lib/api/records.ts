import * as v from 'valibot';
import { Platform } from '../purchases/platform.ts';
import { CancelationReason, PriceConsentStatus, RenewalIntent } from '../purchases/purchase.ts';

/** `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
const DateTime = v.pipe(v.string(), v.isoTimestamp());

const Flag = v.exactOptional(v.boolean());
const Text = v.exactOptional(v.string());
const When = v.exactOptional(DateTime);
const Count = v.exactOptional(v.number());

/** Platform tokens as callers see them: neutral, or brand where the caller speaks brand. */
const PlatformToken = v.union([Platform, v.picklist(['apple', 'google', 'windows', 'stripe', 'iaptic', 'braintree'])]);

const purchaseFields = {
  purchaseId: v.string(),
  transactionId: v.string(),
  productId: v.string(),
  platform: PlatformToken,
  sandbox: Flag,
  purchaseDate: When,
  lastRenewalDate: When,
  expirationDate: When,
  renewalIntent: v.exactOptional(RenewalIntent),
  renewalIntentChangeDate: When,
  cancelationReason: v.exactOptional(CancelationReason),
  isPending: Flag,
  isAcknowledged: Flag,
  isConsumed: Flag,
  isBillingRetryPeriod: Flag,
  isTrialPeriod: Flag,
  isIntroPeriod: Flag,
  priceConsentStatus: v.exactOptional(PriceConsentStatus),
  discountId: Text,
  quantity: Count,
  currency: Text,
  isSharedPurchase: Flag,
  isExpired: Flag,
  isPaused: Flag,
  autoResumeDate: When,
  amountUSD: v.exactOptional(v.nullable(v.number())),
  amountMicros: v.exactOptional(v.nullable(v.number())),
};

export const PurchaseRecord = v.strictObject(purchaseFields);
export type PurchaseRecord = v.InferOutput<typeof PurchaseRecord>;

/** Only lifecycle reasons are listed with a purchase. */
export const PurchaseNotification = v.strictObject({ date: DateTime, reason: v.string() });
export type PurchaseNotification = v.InferOutput<typeof PurchaseNotification>;

export const FetchedPurchase = v.strictObject({
  ...purchaseFields,
  entitledUsers: v.array(v.string()),
  notifications: v.exactOptional(v.array(PurchaseNotification)),
});
export type FetchedPurchase = v.InferOutput<typeof FetchedPurchase>;

/** A customer's purchases by (platform-prefixed) product id. */
export const PurchaseCollection = v.record(v.string(), PurchaseRecord);

export const TransactionRecord = v.strictObject({
  transactionId: v.string(),
  purchaseId: v.string(),
  productId: v.string(),
  offerId: v.exactOptional(v.nullable(v.string())),
  platform: PlatformToken,
  sandbox: v.boolean(),
  purchaseDate: DateTime,
  expirationDate: When,
  isPending: Flag,
  isTrialPeriod: Flag,
  isIntroPeriod: Flag,
  quantity: Count,
  amountUSD: v.nullable(v.number()),
  amountMicros: v.nullable(v.number()),
  currency: v.nullable(v.string()),
  isReportedAmount: Flag,
});
export type TransactionRecord = v.InferOutput<typeof TransactionRecord>;

export const CustomerInfo = v.strictObject({
  lastPurchaseId: Text,
  lastPurchaseDate: When,
  lastRenewalDate: When,
  expirationDate: When,
  activeSubscriber: Flag,
  lapsedSubscriber: Flag,
  renewalIntent: v.exactOptional(RenewalIntent),
  isTrialPeriod: Flag,
  isIntroPeriod: Flag,
  discountId: Text,
});
export type CustomerInfo = v.InferOutput<typeof CustomerInfo>;

export const EventInfo = v.strictObject({
  eventId: v.string(),
  eventInfo: v.strictObject({
    date: DateTime,
    type: v.string(),
    productIds: v.exactOptional(v.array(v.string())),
    purchaseIds: v.exactOptional(v.array(v.string())),
    response: v.strictObject({ status: v.number(), ok: v.boolean(), message: Text }),
  }),
});
export type EventInfo = v.InferOutput<typeof EventInfo>;
