import { getProduct } from '../product.ts';
import { requireSubscription } from '../purchase-checks.ts';
import { app, sandboxDownloadDate } from './app.ts';
import { getAppAccountToken, getOwnershipType } from './payloads.ts';
import { type Account, getLatestTransaction, type Purchase } from './records.ts';
import type { OwnedTransaction, StoreState } from './store-state.ts';

/**
 * Builds a transaction in the format of verifyReceipt: all values are strings.
 *
 * @see https://developer.apple.com/documentation/appstorereceipts/responsebody
 */
export function buildInAppRecord(state: StoreState, { account, purchase, transaction }: OwnedTransaction): object {
  const { expiresDate, revocation, offer, webOrderLineItemId } = transaction;
  const { appAccountToken } = getAppAccountToken(account);
  const { group } = getProduct(state, transaction.productId);
  const isShared = purchase.sharedFrom !== undefined;
  return {
    quantity: String(transaction.quantity),
    product_id: transaction.productId,
    transaction_id: transaction.transactionId,
    original_transaction_id: purchase.id,
    ...formatDate('purchase_date', transaction.purchaseDate),
    ...formatDate('original_purchase_date', purchase.transactions[0].purchaseDate),
    ...(expiresDate !== undefined && formatDate('expires_date', expiresDate)),
    ...(webOrderLineItemId !== undefined && { web_order_line_item_id: webOrderLineItemId }),
    is_trial_period: String(offer?.discountType === 'FREE_TRIAL'),
    ...(group !== undefined && {
      is_in_intro_offer_period: String(offer !== undefined && offer.discountType !== 'FREE_TRIAL'),
      subscription_group_identifier: group,
    }),
    in_app_ownership_type: getOwnershipType(purchase),
    ...(appAccountToken !== undefined && !isShared && { app_account_token: appAccountToken }),
    ...(revocation && {
      ...formatDate('cancellation_date', revocation.date),
      cancellation_reason: String(revocation.reason),
    }),
    ...(transaction.isUpgraded && { is_upgraded: 'true' }),
  };
}

/** Builds the pending renewal of a subscription in the format of verifyReceipt. */
export function buildPendingRenewal(purchase: Purchase): object {
  const { state, willRenew, renewal, expirationIntent, graceUntil, priceIncrease } = requireSubscription(purchase);
  const hasEnded = state === 'EXPIRED' || state === 'BILLING_RETRY';
  return {
    auto_renew_product_id: renewal.productId,
    product_id: getLatestTransaction(purchase).productId,
    original_transaction_id: purchase.id,
    auto_renew_status: willRenew ? '1' : '0',
    ...(hasEnded && { is_in_billing_retry_period: state === 'BILLING_RETRY' ? '1' : '0' }),
    ...(expirationIntent !== undefined && { expiration_intent: String(expirationIntent) }),
    ...(graceUntil !== undefined && formatDate('grace_period_expires_date', graceUntil)),
    ...(priceIncrease && {
      price_consent_status: priceIncrease.accepted ? '1' : '0',
      price_increase_status: priceIncrease.accepted ? '1' : '0',
    }),
  };
}

/** Builds the receipt in the format of verifyReceipt, without its purchases. */
export function buildReceiptRecord(
  { environment, downloadedAt, appTransactionId }: Account,
  dates: ReceiptDates,
): object {
  const isProduction = environment === 'Production';
  const adamId = isProduction ? app.appAppleId : 0;
  return {
    receipt_type: isProduction ? 'Production' : 'ProductionSandbox',
    adam_id: adamId,
    app_item_id: adamId,
    bundle_id: app.bundleId,
    application_version: app.version,
    download_id: isProduction ? Number(appTransactionId) : 0,
    version_external_identifier: isProduction ? app.versionExternalIdentifier : 0,
    ...formatDate('receipt_creation_date', dates.createdAt),
    ...formatDate('request_date', dates.requestedAt),
    ...formatDate('original_purchase_date', isProduction ? downloadedAt : sandboxDownloadDate),
    original_application_version: app.originalVersion[environment],
  };
}

/** Creation date of the receipt and time of the verifyReceipt call. */
export interface ReceiptDates {
  readonly createdAt: number;
  readonly requestedAt: number;
}

/** Formats a time in the three formats of verifyReceipt. */
function formatDate(name: string, at: number): Record<string, string> {
  return {
    [name]: `${formatInZone(at, 'UTC')} Etc/GMT`,
    [`${name}_ms`]: String(at),
    [`${name}_pst`]: `${formatInZone(at, 'America/Los_Angeles')} America/Los_Angeles`,
  };
}

// The Swedish locale formats dates as ISO 8601.
const formatInZone = (at: number, timeZone: string): string => new Date(at).toLocaleString('sv-SE', { timeZone });
