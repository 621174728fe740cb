import { formatTime } from '../calendar.ts';
import type { PurchaseSummary } from '../emulated-store.ts';
import { getProduct } from '../product.ts';
import { sum } from '../sum.ts';
import { findLatestPaidOrder, getLatestOrder, isPaid } from './orders.ts';
import { getRefundedMicros, getRemainingTotal } from './partial-refund.ts';
import { getPurchaseState } from './product-view.ts';
import type { Order, Purchase, Subscription } from './records.ts';
import { getRentalEnd } from './rental.ts';
import type { ResponseContext } from './response-context.ts';
import { getItemEnd, listLines } from './subscription-items.ts';
import { computeTax, getTotalMicros } from './tax.ts';

/** Converts a purchase for responses of the control API. */
export function toPurchaseSummary({ state, now }: ResponseContext, purchase: Purchase): PurchaseSummary {
  const productId = getCurrentProductId(purchase, now());
  const { id, sandbox, applicationUsername, subscription, isAcknowledged, isConsumed } = purchase;
  const paidOrder = findLatestPaidOrder(purchase);
  const rentalEnd = getRentalEnd(purchase);
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
    ...summarizePayments(purchase),
    ...(subscription === undefined && { isConsumed }),
    orderIds: purchase.orders.map((order) => order.id),
    latestOrderId: getLatestOrder(purchase).id,
    ...(paidOrder && { latestSuccessfulOrderId: paidOrder.id }),
    ...(subscription && { autoRenew: subscription.autoRenew, expiryTime: formatTime(subscription.expiryTime) }),
    ...(rentalEnd !== undefined && { rentalEnd: formatTime(rentalEnd) }),
    ...(subscription && { lines: listSubscriptionLines(purchase, subscription) }),
    ...(subscription?.installments && {
      installments: { ...subscription.installments, renews: subscription.pendingCancellation === undefined },
    }),
    ...(subscription?.replaces && { linkedPurchaseToken: subscription.replaces.token }),
  };
}

/** Returns the product that the customer has, even if the first item was removed or revoked. */
function getCurrentProductId({ productId, subscription }: Purchase, at: number): string {
  const owned = subscription ? listOwnedItems(subscription).filter((item) => getItemEnd(subscription, item) > at) : [];
  return owned.some((item) => item.productId === productId) ? productId : (owned[0]?.productId ?? productId);
}

const listOwnedItems = ({ items = [] }: Subscription) =>
  items.filter(({ deferredPeriod }) => deferredPeriod === undefined);

function listSubscriptionLines(purchase: Purchase, subscription: Subscription) {
  const { productId, isUnpaid } = purchase;
  const paidOrderId = findLatestPaidOrder(purchase)?.id;
  const base = { productId, priceMicros: subscription.priceMicros, orderId: paidOrderId ?? '' };
  const items = subscription.items ? listOwnedItems(subscription) : [base];
  return items.map((item) => ({
    productId: item.productId,
    priceMicros: item.priceMicros,
    ...(!isUnpaid && item.orderId && { latestSuccessfulOrderId: item.orderId }),
    expiryTime: formatTime(getItemEnd(subscription, item)),
  }));
}

/** Sums the payments: paid orders and their refunds. An unpaid order and a free trial are not payments. */
function summarizePayments(purchase: Purchase) {
  const payments = purchase.orders.filter(isPayment);
  return {
    payments: payments.map((order) => toPayment(order, purchase)),
    paidMicros: sum(payments.map((order) => getTotalMicros(order, purchase))),
    refundedMicros: sum(payments.map((order) => getRefundedMicros(order, purchase))),
  };
}

function toPayment(order: Order, purchase: Purchase) {
  const { id, createdAt, processedAt = createdAt, changedAt, currency, service, state, partialRefunds = [] } = order;
  const refunds = partialRefunds.map(({ at, amountMicros }) => ({ createdAt: formatTime(at), amountMicros }));
  return {
    orderId: id,
    date: formatTime(processedAt),
    lines: listLines(order).map(({ productId, amountMicros }) => ({ productId, amountMicros })),
    amountMicros: getTotalMicros(order, purchase),
    taxMicros: computeTax(order.amountMicros, purchase),
    currency,
    ...(service && { periodStart: formatTime(service.start), periodEnd: formatTime(service.end) }),
    refundedMicros: getRefundedMicros(order, purchase),
    refunds: [
      ...refunds,
      ...(state === 'REFUNDED'
        ? [{ createdAt: formatTime(changedAt), amountMicros: getRemainingTotal(order, purchase) }]
        : []),
    ],
  };
}

const isPayment = ({ state, amountMicros }: Order): boolean =>
  amountMicros > 0 && (isPaid(state) || state === 'REFUNDED');
