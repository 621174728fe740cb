import type { PurchaseSummary } from '../emulated-store.ts';
import { findLatestPaidOrder, getLatestOrder } from './orders.ts';
import type { Purchase } from './records.ts';
import { getProduct, type StoreState } from './store-state.ts';

const iso = (at: number): string => new Date(at).toISOString();

/** A purchase as the control API shows it. */
export function toPurchaseSummary(state: StoreState, purchase: Purchase): PurchaseSummary {
  const { id, productId, sandbox, applicationUsername, subscription, isAcknowledged, isConsumed } = purchase;
  const paid = findLatestPaidOrder(purchase);
  return {
    id,
    productId,
    type: getProduct(state, productId).type,
    state: subscription?.state ?? (purchase.isCancelled ? 'CANCELLED' : 'PURCHASED'),
    sandbox,
    ...(applicationUsername !== undefined && { applicationUsername }),
    purchaseTime: iso(purchase.purchasedAt),
    quantity: purchase.quantity,
    isAcknowledged,
    ...(subscription === undefined && { isConsumed }),
    orderIds: purchase.orders.map((order) => order.id),
    latestOrderId: getLatestOrder(purchase).id,
    ...(paid && { latestSuccessfulOrderId: paid.id }),
    ...(subscription && { autoRenew: subscription.autoRenew, expiryTime: iso(subscription.expiryTime) }),
    ...(subscription?.replaces && { linkedPurchaseToken: subscription.replaces.token }),
  };
}
