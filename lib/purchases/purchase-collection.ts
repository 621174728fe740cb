import type { PurchaseRecord } from '../api/purchase-records.ts';
import type { EpochMillis } from '../shared/time.ts';
import { getAccessEnd, isActive, isSubscription, type Purchase } from './purchase.ts';
import { toPurchaseRecord } from './to-records.ts';

/** Purchases by product id. Of several purchases of one product the active one counts, then the one that lasts longest. */
export function toPurchaseCollection(purchases: readonly Purchase[], now: EpochMillis): Record<string, PurchaseRecord> {
  const sorted = [...purchases].sort((a, b) => comparePurchases(a, b, now)).reverse();
  return Object.fromEntries(sorted.map((purchase) => [purchase.productId, toPurchaseRecord(purchase, now)]));
}

/** The subscription that counts for the user: an active one before an expired one, then the one that lasts longest. */
export function findCurrentSubscription(purchases: readonly Purchase[], now: EpochMillis): Purchase | undefined {
  return purchases.filter(isSubscription).sort((a, b) => comparePurchases(a, b, now))[0];
}

function comparePurchases(a: Purchase, b: Purchase, now: EpochMillis): number {
  return (
    Number(isActive(b, now)) - Number(isActive(a, now)) ||
    computeSortEnd(b, now) - computeSortEnd(a, now) ||
    (b.purchaseDate ?? 0) - (a.purchaseDate ?? 0)
  );
}

/** What is over and has no date of its end is compared by its purchase alone. */
const computeSortEnd = (purchase: Purchase, now: EpochMillis): EpochMillis =>
  isActive(purchase, now) || purchase.expirationDate !== undefined ? getAccessEnd(purchase) : 0;
