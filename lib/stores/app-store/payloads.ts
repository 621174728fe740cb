import * as v from 'valibot';
import { lenientOptional, nullableOptional } from '../parse-response.ts';

const OptionalText = lenientOptional(v.string());
const OptionalNumber = lenientOptional(v.number());
const OptionalFlag = lenientOptional(v.boolean());
const RequiredIfPresent = nullableOptional(v.number());

/**
 * The environments of the App Store. `Xcode` and `LocalTesting` are not accepted: their data is signed on a developer's
 * machine.
 * @see https://developer.apple.com/documentation/appstoreserverapi/environment
 */
export const Environment = v.picklist(['Production', 'Sandbox']);
export type Environment = v.InferOutput<typeof Environment>;

/** @see https://developer.apple.com/documentation/appstoreserverapi/multiseatpricetier */
const PriceTier = v.looseObject({ price: v.number(), quantity: v.number() });

/** @see https://developer.apple.com/documentation/appstoreserverapi/transactionmultiseatinfo */
const MultiSeatInfo = v.looseObject({
  /** The tiers are in no particular order. */
  priceTiers: lenientOptional(v.array(PriceTier)),
  revokedSeatQuantity: OptionalNumber,
});

/**
 * An item that the app sells by the Advanced Commerce API.
 * @see https://developer.apple.com/documentation/appstoreserverapi/advancedcommercetransactioninfo
 */
const AdvancedCommerceItem = v.looseObject({
  SKU: OptionalText,
  revocationDate: OptionalNumber,
  refunds: lenientOptional(v.array(v.looseObject({ refundAmount: OptionalNumber, refundDate: OptionalNumber }))),
});

/**
 * A signed transaction. Dates are epoch milliseconds. `price` is in thousandths of `currency` for the whole quantity,
 * or for a seat of a multiseat purchase.
 * @see https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload
 */
export const TransactionPayload = v.looseObject({
  transactionId: v.string(),
  originalTransactionId: v.string(),
  bundleId: v.string(),
  productId: v.string(),
  environment: Environment,
  purchaseDate: v.number(),
  originalPurchaseDate: OptionalNumber,
  expiresDate: RequiredIfPresent,
  signedDate: v.number(),
  type: OptionalText,
  quantity: OptionalNumber,
  transactionReason: OptionalText,
  subscriptionGroupIdentifier: OptionalText,
  webOrderLineItemId: OptionalText,
  appAccountToken: OptionalText,
  inAppOwnershipType: OptionalText,
  isUpgraded: OptionalFlag,
  revocationDate: RequiredIfPresent,
  revocationReason: OptionalNumber,
  revocationType: OptionalText,
  /** Thousandths of a percent. */
  revocationPercentage: OptionalNumber,
  offerType: OptionalNumber,
  offerIdentifier: OptionalText,
  offerDiscountType: OptionalText,
  price: OptionalNumber,
  currency: OptionalText,
  multiSeatInfo: lenientOptional(MultiSeatInfo),
  revokedSeatQuantity: OptionalNumber,
  storefront: OptionalText,
  appTransactionId: OptionalText,
  offerPeriod: OptionalText,
  /** Reason why further transactions represent the same period, such as `SEAT_ADDITION`. */
  additionalTransactionReason: OptionalText,
  advancedCommerceInfo: lenientOptional(v.looseObject({ items: lenientOptional(v.array(AdvancedCommerceItem)) })),
});
export type TransactionPayload = v.InferOutput<typeof TransactionPayload>;

/**
 * The signed renewal information of a subscription.
 * @see https://developer.apple.com/documentation/appstoreserverapi/jwsrenewalinfodecodedpayload
 */
export const RenewalPayload = v.looseObject({
  originalTransactionId: v.string(),
  environment: Environment,
  signedDate: v.number(),
  autoRenewProductId: OptionalText,
  autoRenewStatus: OptionalNumber,
  expirationIntent: OptionalNumber,
  gracePeriodExpiresDate: RequiredIfPresent,
  isInBillingRetryPeriod: OptionalFlag,
  priceIncreaseStatus: OptionalNumber,
  appAccountToken: OptionalText,
  /** Product of the current period. */
  productId: OptionalText,
  /** End of the current period. */
  renewalDate: OptionalNumber,
  renewalBillingPlanType: OptionalText,
  commitmentInfo: lenientOptional(v.looseObject({ commitmentAutoRenewStatus: OptionalNumber })),
});
export type RenewalPayload = v.InferOutput<typeof RenewalPayload>;

/**
 * The signed download of the app.
 * @see https://developer.apple.com/documentation/appstoreserverapi/jwsapptransactiondecodedpayload
 */
export const AppTransactionPayload = v.looseObject({
  receiptType: Environment,
  bundleId: v.string(),
  appAppleId: OptionalNumber,
  applicationVersion: OptionalText,
  originalApplicationVersion: OptionalText,
  originalPurchaseDate: OptionalNumber,
  receiptCreationDate: OptionalNumber,
  appTransactionId: OptionalText,
});
export type AppTransactionPayload = v.InferOutput<typeof AppTransactionPayload>;

const appFields = { environment: Environment, bundleId: v.string(), appAppleId: OptionalNumber };

/** @see https://developer.apple.com/documentation/appstoreserverapi/statusresponse */
export const StatusesResponse = v.object({
  ...appFields,
  data: v.array(
    v.object({
      lastTransactions: v.array(
        v.object({ status: v.number(), signedTransactionInfo: v.string(), signedRenewalInfo: OptionalText }),
      ),
    }),
  ),
});
export type StatusesResponse = v.InferOutput<typeof StatusesResponse>;

/** @see https://developer.apple.com/documentation/appstoreserverapi/historyresponse */
export const HistoryResponse = v.object({
  ...appFields,
  signedTransactions: v.array(v.string()),
  revision: OptionalText,
  hasMore: OptionalFlag,
});
export type HistoryResponse = v.InferOutput<typeof HistoryResponse>;

/** @see https://developer.apple.com/documentation/appstoreserverapi/notificationhistoryresponse */
export const NotificationHistoryResponse = v.object({
  notificationHistory: v.optional(v.array(v.object({ signedPayload: v.string() })), []),
  paginationToken: OptionalText,
  hasMore: OptionalFlag,
});

/** @see https://developer.apple.com/documentation/appstoreserverapi/get_transaction_info */
export const TransactionInfoResponse = v.object({ signedTransactionInfo: v.string() });

/** @see https://developer.apple.com/documentation/appstoreserverapi/apptransactioninforesponse */
export const AppTransactionInfoResponse = v.object({ signedAppTransactionInfo: v.string() });
