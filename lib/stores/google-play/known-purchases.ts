import type { Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import type { StoreContext } from '../store-context.ts';

/** A purchase as it was stored before a query, with its transactions. */
export interface KnownPurchase {
  readonly purchase: Purchase;
  readonly transactions: readonly Transaction[];
}

/** The stored purchases of a token by purchase id. */
export type KnownPurchases = ReadonlyMap<string, KnownPurchase>;

/** Reads stored data. The members are absent when an operator checks settings. */
export type StoredData = Pick<StoreContext, 'catalogue' | 'findPurchase' | 'listTransactions'>;

/** Loads stored purchases. Leaves out those that are not stored yet. */
export async function loadKnownPurchases(
  purchaseIds: readonly string[],
  { findPurchase, listTransactions }: StoredData,
): Promise<KnownPurchases> {
  const known = new Map<string, KnownPurchase>();
  for (const purchaseId of purchaseIds) {
    const purchase = await findPurchase?.(purchaseId);
    if (purchase) known.set(purchaseId, { purchase, transactions: (await listTransactions?.(purchaseId)) ?? [] });
  }
  return known;
}
