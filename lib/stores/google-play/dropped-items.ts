import { withoutPlatform } from '../../foundation/platform.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import { loadKnownPurchase, type StoredData, type TokenPurchases, toPurchaseId } from './known-purchases.ts';
import type { Order, Subscription } from './payloads.ts';

interface DropContext {
  readonly token: string;
  readonly own: TokenPurchases;
  readonly orders: Iterable<Order>;
  /** Product of the purchase that caused the query, if it is known. */
  readonly productId: string;
  readonly now: EpochMillis;
  readonly storedData: StoredData;
}

/**
 * Observes the end of the stored items that the subscription no longer has. Google Play drops an item that was removed,
 * replaced or revoked, and does not name it: its product is in the orders, in the purchase with the token's id, or in
 * the purchase to refresh.
 * @see https://developer.android.com/google/play/billing/subscription-with-addons
 */
export async function observeDroppedItems(subscription: Subscription, context: DropContext): Promise<Observation[]> {
  const { token, own, orders, productId, now, storedData } = context;
  const current = new Set(subscription.lineItems.map((item) => item.productId));
  const main = own.known.get(toPurchaseId(token));
  const orderedIds = [...orders].flatMap(({ lineItems }) =>
    lineItems.length > 1 ? lineItems.map((line) => line.productId ?? '') : [],
  );
  const candidates = new Set([...(main ? [withoutPlatform(main.purchase.productId)] : []), productId, ...orderedIds]);
  const dropped: Observation[] = [];
  for (const candidate of candidates) {
    if (candidate === '' || current.has(candidate)) continue;
    const isMain = main && withoutPlatform(main.purchase.productId) === candidate;
    const known = isMain ? main : await loadKnownPurchase(toPurchaseId(token, candidate), storedData);
    if (known && isRunning(known.purchase, now))
      dropped.push({
        asOf: now,
        purchase: endItem(known.purchase, subscription, now),
        transactions: [],
        userAliases: [],
      });
  }
  return dropped;
}

const isRunning = ({ endedAt, expirationDate, renewalIntent }: Purchase, now: EpochMillis): boolean =>
  endedAt === undefined && ((expirationDate ?? now) > now || renewalIntent === 'Renew');

function endItem(purchase: Purchase, { lineItems }: Subscription, now: EpochMillis): Purchase {
  const { renewalProductId: _next, isBillingRetryPeriod, ...rest } = purchase;
  const productId = withoutPlatform(purchase.productId);
  const isReplaced = lineItems.some(({ itemReplacement }) => itemReplacement?.productId === productId);
  const reason = isBillingRetryPeriod
    ? 'System.BillingError'
    : purchase.renewalIntent === 'Lapse'
      ? 'Customer'
      : 'Unknown';
  return {
    ...rest,
    isBillingRetryPeriod: false,
    endedAt: Math.min(purchase.expirationDate ?? now, now),
    renewalIntent: 'Lapse',
    cancelationReason: isReplaced ? 'System.Replaced' : reason,
  };
}
