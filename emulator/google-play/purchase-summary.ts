import { formatTime } from '../calendar.ts';
import type { PurchaseSummary } from '../emulated-store.ts';
import { getProduct } from '../product.ts';
import { findLatestPaidOrder, getLatestOrder } from './orders.ts';
import { getPurchaseState } from './product-view.ts';
import type { Purchase } from './records.ts';
import type { StoreState } from './store-state.ts';

/** Converts a purchase for responses of the control API. */
export function toPurchaseSummary(state: StoreState, purchase: Purchase): PurchaseSummary {
  const { id, productId, sandbox, applicationUsername, subscription, isAcknowledged, isConsumed } = purchase;
  const paidOrder = findLatestPaidOrder(purchase);
  return {
    id,
    productId,
    type: getProduct(state, productId).type,
    state: subscription?.state ?? getPurchaseState(purchase),
    sandbox,
    ...(applicationUsername !== undefined && { applicationUsername }),
    purchaseTime: formatTime(purchase.purchasedAt),
    quantity: purchase.quantity,
    isAcknowledged,
    ...(subscription === undefined && { isConsumed }),
    orderIds: purchase.orders.map((order) => order.id),
    latestOrderId: getLatestOrder(purchase).id,
    ...(paidOrder && { latestSuccessfulOrderId: paidOrder.id }),
    ...(subscription && { autoRenew: subscription.autoRenew, expiryTime: formatTime(subscription.expiryTime) }),
    ...(subscription?.replaces && { linkedPurchaseToken: subscription.replaces.token }),
  };
}
