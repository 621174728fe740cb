import * as v from 'valibot';

const Text = v.exactOptional(v.string());
const Count = v.exactOptional(v.number());

/** Where a purchase was made. What Xcode signs on a developer's machine proves nothing and is no environment here. */
export const Environment = v.picklist(['Production', 'Sandbox']);
export type Environment = v.InferOutput<typeof Environment>;

/** A signed transaction. Dates are epoch milliseconds, `price` is in milliunits for the whole quantity. */
export const TransactionPayload = v.looseObject({
  transactionId: v.string(),
  originalTransactionId: v.string(),
  bundleId: v.string(),
  productId: v.string(),
  environment: Environment,
  purchaseDate: v.number(),
  originalPurchaseDate: Count,
  expiresDate: Count,
  signedDate: v.number(),
  type: Text,
  quantity: Count,
  subscriptionGroupIdentifier: Text,
  appAccountToken: Text,
  inAppOwnershipType: Text,
  isUpgraded: v.exactOptional(v.boolean()),
  revocationDate: Count,
  revocationReason: Count,
  revocationType: Text,
  offerType: Count,
  offerIdentifier: Text,
  offerDiscountType: Text,
  price: Count,
  currency: Text,
});
export type TransactionPayload = v.InferOutput<typeof TransactionPayload>;

/** The signed outlook of a subscription: whether and how it renews. */
export const RenewalPayload = v.looseObject({
  originalTransactionId: v.string(),
  environment: Environment,
  signedDate: v.number(),
  autoRenewProductId: Text,
  autoRenewStatus: Count,
  expirationIntent: Count,
  gracePeriodExpiresDate: Count,
  priceIncreaseStatus: Count,
  appAccountToken: Text,
});
export type RenewalPayload = v.InferOutput<typeof RenewalPayload>;

/** The signed download of the application. */
export const AppTransactionPayload = v.looseObject({
  receiptType: Environment,
  bundleId: v.string(),
  appAppleId: Count,
  applicationVersion: Text,
  originalApplicationVersion: Text,
  originalPurchaseDate: Count,
  receiptCreationDate: Count,
  appTransactionId: Text,
});
export type AppTransactionPayload = v.InferOutput<typeof AppTransactionPayload>;

const appFields = { environment: Environment, bundleId: v.string(), appAppleId: Count };

/** The answer to "Get All Subscription Statuses". */
export const StatusesResponse = v.object({
  ...appFields,
  data: v.array(
    v.object({
      lastTransactions: v.array(
        v.object({ status: v.number(), signedTransactionInfo: v.string(), signedRenewalInfo: Text }),
      ),
    }),
  ),
});
export type StatusesResponse = v.InferOutput<typeof StatusesResponse>;

/** One page of the answer to "Get Transaction History". */
export const HistoryResponse = v.object({
  ...appFields,
  signedTransactions: v.array(v.string()),
  revision: Text,
  hasMore: v.boolean(),
});
export type HistoryResponse = v.InferOutput<typeof HistoryResponse>;

/** One page of the answer to "Get Notification History". */
export const NotificationHistoryResponse = v.object({
  notificationHistory: v.optional(v.array(v.object({ signedPayload: v.string() })), []),
  paginationToken: Text,
  hasMore: v.exactOptional(v.boolean()),
});

/** The answer to "Get Transaction Info". */
export const TransactionInfoResponse = v.object({ signedTransactionInfo: v.string() });

/** The answer to "Get App Transaction Info". */
export const AppTransactionInfoResponse = v.object({ signedAppTransactionInfo: v.string() });
