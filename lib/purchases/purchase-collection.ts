import type { EpochMillis } from '../foundation/time.ts';
import { isSubscription, isUnpaid, type Purchase } from './purchase.ts';
import type { PurchaseRecord } from './purchase-contract.ts';
import { comparePurchases } from './purchase-rank.ts';
import { toPurchaseRecord } from './to-records.ts';

/**
 * Returns the purchases by product id. If a product has several purchases, the active one takes precedence, then the
 * one with the latest expiration.
 */
export function toPurchaseCollection(purchases: readonly Purchase[], now: EpochMillis): Record<string, PurchaseRecord> {
  const sorted = [...purchases].sort((a, b) => comparePurchases(a, b, now)).reverse();
  return Object.fromEntries(sorted.map((purchase) => [purchase.productId, toPurchaseRecord(purchase, now)]));
}

/**
 * Returns the current subscription: an active one takes precedence, then the one with the latest expiration. Ignores
 * unpaid ones.
 */
export function findCurrentSubscription(purchases: readonly Purchase[], now: EpochMillis): Purchase | undefined {
  const subscriptions = purchases.filter((purchase) => isSubscription(purchase) && !isUnpaid(purchase));
  return subscriptions.sort((a, b) => comparePurchases(a, b, now))[0];
}
