import { randomUUID } from 'node:crypto';
import { createApp, type IssuedApiKeys } from '../lib/apps/manage-apps.ts';
import { createAppRepository } from '../lib/db/app-repository.ts';
import type { Table } from '../lib/db/table.ts';
import type { Observation } from '../lib/purchases/observation.ts';
import type { Purchase } from '../lib/purchases/purchase.ts';
import type { Transaction } from '../lib/purchases/transaction.ts';
import { createCipher } from '../lib/shared/cipher.ts';

export const dayMs = 24 * 60 * 60 * 1000;
export const startDate = Date.parse('2026-01-01T00:00:00Z');

/** A name that no other test uses. */
export const createUniqueName = (kind = 'app'): string => `${kind}-${randomUUID()}`;

export const testCipher = createCipher(async () => 'the-master-secret-of-the-tests', Date.now);

/** An application with its keys. */
export const givenApp = async (table: Table, name = createUniqueName()): Promise<IssuedApiKeys> =>
  await createApp(createAppRepository(table, testCipher), name, Date.now());

/** An observation of a purchase that cannot be refreshed. */
export type UnrefreshableObservation = Omit<Observation, 'refreshToken'>;

/** A monthly subscription bought at `start`, seen then; `state` says what differs. */
export function createObservation(
  state: Partial<Purchase> = {},
  seen: Partial<UnrefreshableObservation> = {},
): UnrefreshableObservation {
  const purchase: Purchase = {
    purchaseId: 'store_a:1',
    transactionId: 'store_a:1',
    productId: 'store_a:monthly',
    platform: 'store_a',
    productType: 'paid subscription',
    sandbox: false,
    purchaseDate: startDate,
    expirationDate: startDate + 31 * dayMs,
    renewalIntent: 'Renew',
    ...state,
  };
  return { asOf: startDate, purchase, transactions: [createTransaction(purchase)], userAliases: [], ...seen };
}

/** The transaction that a purchase names as its latest. */
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
