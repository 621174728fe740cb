import * as v from 'valibot';
import { defineContract } from './contract.ts';
import { CancelationReason, PriceConsentStatus, RenewalIntent } from './enumerations.ts';
import { DateTime } from './schemas.ts';
import { ValidateReceiptBody } from './validate-receipt-body.ts';

const OptionalBoolean = v.exactOptional(v.boolean());
const OptionalEpochMs = v.exactOptional(v.number());

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
  discountId: v.exactOptional(v.string()),
  priceConsentStatus: v.exactOptional(PriceConsentStatus),
  lastRenewalDate: OptionalEpochMs,
  quantity: v.exactOptional(v.number()),
  /** Whether the purchase is paused or on hold and so gives no access; read by react-native-iaptic. */
  isSuspended: OptionalBoolean,
});
export type ValidatorPurchase = v.InferOutput<typeof ValidatorPurchase>;

/** The store's own transaction. Its members depend on the store. */
export const NativeTransaction = v.looseObject({ type: v.exactOptional(v.string()) });

/** The validated product and the purchases of the receipt. */
export const ValidationData = v.strictObject({
  id: v.string(),
  latest_receipt: v.literal(true),
  transaction: NativeTransaction,
  collection: v.array(ValidatorPurchase),
  ineligible_for_intro_price: v.array(v.string()),
  warning: v.exactOptional(v.string()),
  date: DateTime,
});

export const ValidationSuccess = v.strictObject({ ok: v.literal(true), data: ValidationData });

/** The error as the plugins read it, next to the members of the response. */
export const ValidationErrorMessage = v.strictObject({ message: v.string() });

export const ValidationFailureData = v.looseObject({
  latest_receipt: v.literal(true),
  code: v.number(),
  error: ValidationErrorMessage,
});

export const ValidationFailure = v.strictObject({
  ok: v.literal(false),
  route: v.string(),
  status: v.number(),
  code: v.number(),
  message: v.string(),
  data: ValidationFailureData,
});

export const validateReceipt = defineContract({
  id: 'validate-receipt',
  area: 'validation',
  summary: 'Validate a receipt and record its purchases for the customer',
  method: 'POST',
  path: '/v1/validate',
  aliases: ['/v2/validate', '/v3/validate'],
  keyLevel: 'public',
  errorFormat: 'validation',
  eventType: 'receipt.validated',
  body: ValidateReceiptBody,
  response: v.union([ValidationSuccess, ValidationFailure]),
  permissions: ['write', 'stores'],
});
