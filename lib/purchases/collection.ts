import type { PurchaseRecord } from '../api/records.ts';
import { accessUntil, isActive, isSubscription, type Millis, type Purchase } from './purchase.ts';
import { purchaseRecord } from './records.ts';

/** Purchases by product id. Of several purchases of one product the active one counts, then the one that lasts longest. */
export function collectionOf(purchases: readonly Purchase[], now: Millis): Record<string, PurchaseRecord> {
  const best = [...purchases].sort((a, b) => preference(a, b, now)).reverse();
  return Object.fromEntries(best.map((purchase) => [purchase.productId, purchaseRecord(purchase, now)]));
}

/** The subscription that counts for the user: an active one before an expired one, then the one that lasts longest. */
export function currentSubscription(purchases: readonly Purchase[], now: Millis): Purchase | undefined {
  return purchases.filter(isSubscription).sort((a, b) => preference(a, b, now))[0];
}

function preference(a: Purchase, b: Purchase, now: Millis): number {
  return (
    Number(isActive(b, now)) - Number(isActive(a, now)) ||
    endOf(b, now) - endOf(a, now) ||
    (b.purchaseDate ?? 0) - (a.purchaseDate ?? 0)
  );
}

/** What is over and has no date of its end is compared by its purchase alone. */
const endOf = (purchase: Purchase, now: Millis): Millis =>
  isActive(purchase, now) || purchase.expirationDate !== undefined ? accessUntil(purchase) : 0;
