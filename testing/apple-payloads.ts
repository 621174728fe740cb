import { randomUUID } from 'node:crypto';

/** The first moment of the samples. */
export const purchaseDate = Date.parse('2026-03-01T10:00:00Z');
export const dayMs = 86_400_000;
export const bundleId = 'com.example.app';
export const appAppleId = 1234567890;

/** A signed transaction's payload: a monthly subscription bought at `bought`; `changes` say what differs. */
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
  signedDate: purchaseDate + 60_000,
  environment: 'Production',
  price: 4990,
  currency: 'USD',
  ...changes,
});

/** A one-time purchase's payload. */
export function buildOneTimePayload(
  type: 'Consumable' | 'Non-Consumable' | 'Non-Renewing Subscription',
  changes: object = {},
) {
  const { expiresDate: _ends, subscriptionGroupIdentifier: _group, ...payload } = buildTransactionPayload();
  return { ...payload, type, productId: type.toLowerCase(), ...changes };
}

/** A signed renewal's payload: it renews. */
export const buildRenewalPayload = (changes: object = {}) => ({
  originalTransactionId: '1001',
  autoRenewProductId: 'monthly',
  productId: 'monthly',
  autoRenewStatus: 1,
  signedDate: purchaseDate + 60_000,
  environment: 'Production',
  ...changes,
});

/** A signed download's payload. */
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
