import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { platformTokens, withoutPlatform, withPlatform } from '../../foundation/platform.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { Transaction } from '../../purchases/transaction.ts';
import type { StoreContext } from '../store-context.ts';

/** A purchase as it was stored before a query, with its transactions. */
export interface KnownPurchase {
  readonly purchase: Purchase;
  readonly transactions: readonly Transaction[];
}

/** The stored purchases of a token by purchase id. */
type KnownPurchases = ReadonlyMap<string, KnownPurchase>;

/** Reads stored data. The members are absent when an operator checks settings. */
export type StoredData = Pick<StoreContext, 'catalogue' | 'findPurchase' | 'listTransactions'>;

/** The purchases of a token: their ids by product, and those that are stored. */
export interface TokenPurchases {
  readonly purchaseIds: ReadonlyMap<string, string>;
  readonly known: KnownPurchases;
}

/** Returns the id of the purchase of a token, or of one product of it. */
export const toPurchaseId = (token: string, productId?: string): string =>
  withPlatform(platformTokens.googlePlay, productId === undefined ? token : `${token}:${productId}`);

/**
 * Builds the ids of the purchases of a token and loads the stored ones. One product has the token's id, the others add
 * their product: the product that is stored under the token, otherwise the first by name. Google does not define an
 * order of the products, so the id must not depend on their positions.
 */
export async function loadTokenPurchases(
  token: string,
  productIds: readonly string[],
  storedData: StoredData,
): Promise<TokenPurchases> {
  const tokenId = toPurchaseId(token);
  const stored = await loadKnownPurchase(tokenId, storedData);
  const [firstProductId] = [...productIds].sort();
  const mainProductId = stored ? withoutPlatform(stored.purchase.productId) : firstProductId;
  const purchaseIds = new Map(
    productIds.map((productId) => [productId, productId === mainProductId ? tokenId : toPurchaseId(token, productId)]),
  );
  const known = new Map(stored && [[tokenId, stored]]);
  for (const purchaseId of purchaseIds.values()) {
    const purchase = purchaseId === tokenId ? undefined : await loadKnownPurchase(purchaseId, storedData);
    if (purchase) known.set(purchaseId, purchase);
  }
  return { purchaseIds, known };
}

/** Loads a stored purchase. Returns undefined if it is not stored. */
export async function loadKnownPurchase(
  purchaseId: string,
  { findPurchase, listTransactions }: StoredData,
): Promise<KnownPurchase | undefined> {
  const purchase = await findPurchase?.(purchaseId);
  return purchase && { purchase, transactions: (await listTransactions?.(purchaseId)) ?? [] };
}

/** Returns the refresh token of the purchase of a token, or of one product of it. */
export const toRefreshToken = (
  token: string,
  kind: string,
  productId?: string,
): NonNullable<Observation['refreshToken']> => ({ purchaseToken: token, kind, ...omitUndefined({ productId }) });
