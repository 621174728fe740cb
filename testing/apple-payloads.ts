import { randomUUID } from 'node:crypto';
import { dayMs, minuteMs } from '../lib/foundation/time.ts';

/** Purchase date of all payloads below, in epoch milliseconds. */
export const purchaseDate = Date.parse('2026-03-01T10:00:00Z');
export const bundleId = 'com.example.app';
export const appAppleId = 1234567890;

/**
 * Builds the payload of a signed transaction: a monthly subscription bought at `purchaseDate` and signed a minute
 * later.
 * @see https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload
 */
export const buildTransactionPayload = (changes: object = {}) => ({
  transactionId: '1001',
  originalTransactionId: '1001',
  bundleId,
  productId: 'monthly',
  subscriptionGroupIdentifier: 'group-1',
  purchaseDate,
  originalPurchaseDate: purchaseDate,
  expiresDate: purchaseDate + 31 * dayMs,
  quantity: 1,
  type: 'Auto-Renewable Subscription',
  inAppOwnershipType: 'PURCHASED',
  signedDate: purchaseDate + minuteMs,
  environment: 'Production',
  price: 4990,
  currency: 'USD',
  ...changes,
});

/** Builds the payload of a signed transaction for a product without renewal. */
export function buildOneTimePayload(
  type: 'Consumable' | 'Non-Consumable' | 'Non-Renewing Subscription',
  changes: object = {},
) {
  const { expiresDate: _expiresDate, subscriptionGroupIdentifier: _group, ...payload } = buildTransactionPayload();
  return { ...payload, type, productId: type.toLowerCase(), ...changes };
}

/**
 * Builds the payload of a signed renewal info of a subscription that renews.
 * @see https://developer.apple.com/documentation/appstoreserverapi/jwsrenewalinfodecodedpayload
 */
export const buildRenewalPayload = (changes: object = {}) => ({
  originalTransactionId: '1001',
  autoRenewProductId: 'monthly',
  productId: 'monthly',
  autoRenewStatus: 1,
  signedDate: purchaseDate + minuteMs,
  environment: 'Production',
  ...changes,
});

/**
 * Builds the payload of a signed app transaction, the proof of an app download.
 * @see https://developer.apple.com/documentation/storekit/apptransaction
 */
export const buildAppTransactionPayload = (changes: object = {}) => ({
  receiptType: 'Production',
  appAppleId,
  bundleId,
  applicationVersion: '2.4',
  originalApplicationVersion: '1.2',
  originalPurchaseDate: purchaseDate - 90 * dayMs,
  receiptCreationDate: purchaseDate,
  deviceVerification: 'a hash of the device',
  deviceVerificationNonce: randomUUID(),
  appTransactionId: '7001',
  ...changes,
});
