import { randomUUID } from 'node:crypto';
import { cipherOf } from '../../lib/apps/cipher.ts';
import { createApp, type IssuedKeys } from '../../lib/apps/operator.ts';
import { appsOf } from '../../lib/db/apps.ts';
import type { Table } from '../../lib/db/table.ts';
import type { Observation } from '../../lib/purchases/observation.ts';
import type { Purchase } from '../../lib/purchases/purchase.ts';
import type { Transaction } from '../../lib/transactions/transaction.ts';

export const day = 24 * 60 * 60 * 1000;
export const start = Date.parse('2026-01-01T00:00:00Z');

/** A name that no other test uses. */
export const freshName = (kind = 'app'): string => `${kind}-${randomUUID()}`;

export const testCipher = cipherOf(async () => 'the-master-secret-of-the-tests', Date.now);

/** An application with its keys. */
export const givenApp = async (table: Table, name = freshName()): Promise<IssuedKeys> =>
  await createApp(appsOf(table, testCipher), name, Date.now());

/** An observation of a purchase that cannot be refreshed. */
export type Look = Omit<Observation, 'refreshToken'>;

/** A monthly subscription bought at `start`, seen then; `state` says what differs. */
export function seenPurchase(state: Partial<Purchase> = {}, seen: Partial<Look> = {}): Look {
  const purchase: Purchase = {
    purchaseId: 'store_a:1',
    transactionId: 'store_a:1',
    productId: 'store_a:monthly',
    platform: 'store_a',
    productType: 'paid subscription',
    sandbox: false,
    purchaseDate: start,
    expirationDate: start + 31 * day,
    renewalIntent: 'Renew',
    ...state,
  };
  return { asOf: start, purchase, transactions: [paid(purchase)], userTokens: [], ...seen };
}

/** The transaction that a purchase names as its latest. */
export function paid(purchase: Purchase, fields: Partial<Transaction> = {}): Transaction {
  const { purchaseId, transactionId, productId, platform, sandbox } = purchase;
  return {
    purchaseId,
    transactionId,
    productId,
    platform,
    sandbox,
    purchaseDate: purchase.lastRenewalDate ?? purchase.purchaseDate ?? start,
    ...(purchase.expirationDate !== undefined && { expirationDate: purchase.expirationDate }),
    quantity: 1,
    currency: 'USD',
    amountMicros: 4_990_000,
    ...fields,
  };
}
