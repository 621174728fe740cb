import { randomUUID } from 'node:crypto';

/** The first moment of the samples. */
export const bought = Date.parse('2026-03-01T10:00:00Z');
export const day = 86_400_000;
export const bundleId = 'com.example.app';
export const appAppleId = 1234567890;

/** A signed transaction's payload: a monthly subscription bought at `bought`; `changes` say what differs. */
export const transactionPayload = (changes: object = {}) => ({
  transactionId: '1001',
  originalTransactionId: '1001',
  bundleId,
  productId: 'monthly',
  subscriptionGroupIdentifier: 'group-1',
  purchaseDate: bought,
  originalPurchaseDate: bought,
  expiresDate: bought + 31 * day,
  quantity: 1,
  type: 'Auto-Renewable Subscription',
  inAppOwnershipType: 'PURCHASED',
  signedDate: bought + 60_000,
  environment: 'Production',
  price: 4990,
  currency: 'USD',
  ...changes,
});

/** A one-time purchase's payload. */
export function oneTimePayload(
  type: 'Consumable' | 'Non-Consumable' | 'Non-Renewing Subscription',
  changes: object = {},
) {
  const { expiresDate: _ends, subscriptionGroupIdentifier: _group, ...payload } = transactionPayload();
  return { ...payload, type, productId: type.toLowerCase(), ...changes };
}

/** A signed renewal's payload: it renews. */
export const renewalPayload = (changes: object = {}) => ({
  originalTransactionId: '1001',
  autoRenewProductId: 'monthly',
  productId: 'monthly',
  autoRenewStatus: 1,
  signedDate: bought + 60_000,
  environment: 'Production',
  ...changes,
});

/** A signed download's payload. */
export const appTransactionPayload = (changes: object = {}) => ({
  receiptType: 'Production',
  appAppleId,
  bundleId,
  applicationVersion: '2.4',
  originalApplicationVersion: '1.2',
  originalPurchaseDate: bought - 90 * day,
  receiptCreationDate: bought,
  deviceVerification: 'a hash of the device',
  deviceVerificationNonce: randomUUID(),
  appTransactionId: '7001',
  ...changes,
});
