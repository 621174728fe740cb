import { randomUUID } from 'node:crypto';
import { createCipher } from '../lib/foundation/cipher.ts';
import { dayMs } from '../lib/foundation/time.ts';
import type { Observation } from '../lib/purchases/observation.ts';
import type { Purchase } from '../lib/purchases/purchase.ts';
import type { Transaction } from '../lib/purchases/transaction.ts';

/** Purchase date of `createObservation`, in epoch milliseconds. */
export const startDate = Date.parse('2026-01-01T00:00:00Z');

/** Creates a name that no other test uses. */
export const createUniqueName = (kind = 'app'): string => `${kind}-${randomUUID()}`;

/** Content of the master key secret in tests. */
export const testMasterSecret = 'the-master-secret-of-the-tests';

/** Encrypts with the master key that `startTestService` provides. */
export const testCipher = createCipher(async () => testMasterSecret, Date.now);

/** An observation without a refresh token: the service cannot query the store again. */
export type UnrefreshableObservation = Omit<Observation, 'refreshToken'>;

/**
 * Builds an observation of a monthly subscription bought and observed at `startDate`.
 * `purchase` replaces fields of the purchase, `fields` of the observation.
 */
export function createObservation(
  purchase: Partial<Purchase> = {},
  fields: Partial<UnrefreshableObservation> = {},
): UnrefreshableObservation {
  const observedPurchase: Purchase = {
    purchaseId: 'store_a:1',
    transactionId: 'store_a:1',
    productId: 'store_a:monthly',
    platform: 'store_a',
    productType: 'paid subscription',
    sandbox: false,
    purchaseDate: startDate,
    expirationDate: startDate + 31 * dayMs,
    renewalIntent: 'Renew',
    ...purchase,
  };
  return {
    asOf: startDate,
    purchase: observedPurchase,
    transactions: [createTransaction(observedPurchase)],
    userAliases: [],
    ...fields,
  };
}

/** Builds the latest transaction of a purchase, worth USD 4.99. */
export function createTransaction(purchase: Purchase, fields: Partial<Transaction> = {}): Transaction {
  const { purchaseId, transactionId, productId, platform, sandbox } = purchase;
  return {
    purchaseId,
    transactionId,
    productId,
    platform,
    sandbox,
    purchaseDate: purchase.lastRenewalDate ?? purchase.purchaseDate ?? startDate,
    ...(purchase.expirationDate !== undefined && { expirationDate: purchase.expirationDate }),
    quantity: 1,
    currency: 'USD',
    amountMicros: 4_990_000,
    ...fields,
  };
}
