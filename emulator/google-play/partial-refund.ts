import { requirePossible } from '../purchase-checks.ts';
import { getLatestOrder } from './orders.ts';
import { buildVoidedNotification, type Transition, withOrder } from './purchase-transition.ts';
import type { Order, Purchase, VoidedOrder } from './records.ts';
import { getTotalMicros } from './tax.ts';

/** Returns the quantity of a one-time purchase that is not refunded. */
export const getRemainingQuantity = ({ isCancelled, quantity, refundedQuantity = 0 }: Purchase): number =>
  isCancelled ? 0 : quantity - refundedQuantity;

/** Returns what the customer paid for an order, with the tax, minus partial refunds. */
export const getRemainingTotal = (order: Order, purchase: Purchase): number =>
  (order.partialRefunds ?? []).reduce(
    (remaining, refund) => remaining - refund.amountMicros,
    getTotalMicros(order, purchase),
  );

/** Returns the sum of the refunds of a paid order, with the tax. */
export const getRefundedMicros = (order: Order, purchase: Purchase): number =>
  getTotalMicros(order, purchase) - (order.state === 'REFUNDED' ? 0 : getRemainingTotal(order, purchase));

interface RefundedAmount {
  readonly at: number;
  readonly order: Order;
  readonly amountMicros: number;
}

/**
 * Refunds part of the price of an order. The customer keeps the purchase. Google Play lists and notifies only partial
 * refunds of a quantity.
 *
 * @see https://developers.google.com/android-publisher/voided-purchases
 */
export function refundAmount(purchase: Purchase, { at, order, amountMicros }: RefundedAmount): Transition {
  const remaining = getRemainingTotal(order, purchase);
  requirePossible(amountMicros < remaining, purchase, `has a refundable amount of ${remaining} micros`);
  return { purchase: withPartialRefund(purchase, order, { at, amountMicros }), notifications: [] };
}

const withPartialRefund = (
  purchase: Purchase,
  { id, partialRefunds = [] }: Order,
  refund: { readonly at: number; readonly amountMicros: number },
): Purchase =>
  withOrder(purchase, id, {
    state: 'PARTIALLY_REFUNDED',
    changedAt: refund.at,
    partialRefunds: [...partialRefunds, refund],
  });

/** Refunds part of the quantity of a one-time purchase. The customer keeps the purchase. */
export function refundPart(purchase: Purchase, at: number, quantity: number): Transition {
  const { id: token, purchasedAt, refundedQuantity = 0 } = purchase;
  const order = getLatestOrder(purchase);
  requirePossible(
    quantity <= getRemainingQuantity(purchase),
    purchase,
    `has a refundable quantity of ${getRemainingQuantity(purchase)}`,
  );
  const voided: VoidedOrder = { token, orderId: order.id, purchasedAt, voidedAt: at, isSubscription: false, quantity };
  const amountMicros = Math.round((getTotalMicros(order, purchase) * quantity) / purchase.quantity);
  const kept = { ...purchase, refundedQuantity: refundedQuantity + quantity };
  return {
    purchase: withPartialRefund(kept, order, { at, amountMicros }),
    notifications: [buildVoidedNotification(voided)],
    voided,
  };
}
