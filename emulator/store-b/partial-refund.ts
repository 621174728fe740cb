import { requirePossible } from '../purchase-checks.ts';
import { getLatestOrder } from './orders.ts';
import { buildVoidedNotification, type Transition, withOrder } from './purchase-transition.ts';
import type { Purchase, VoidedOrder } from './records.ts';

/** Returns the quantity of a one-time purchase that is not refunded. */
export const getRemainingQuantity = ({ isCancelled, quantity, refundedQuantity = 0 }: Purchase): number =>
  isCancelled ? 0 : quantity - refundedQuantity;

/** Refunds part of the quantity of a one-time purchase. The customer keeps the purchase. */
export function refundPart(purchase: Purchase, at: number, quantity: number): Transition {
  const { id: token, purchasedAt, refundedQuantity = 0 } = purchase;
  const { id: orderId, amountMicros, partialRefunds = [] } = getLatestOrder(purchase);
  requirePossible(
    quantity <= getRemainingQuantity(purchase),
    purchase,
    `has a refundable quantity of ${getRemainingQuantity(purchase)}`,
  );
  const voided: VoidedOrder = { token, orderId, purchasedAt, voidedAt: at, isSubscription: false, quantity };
  const partialRefund = { at, amountMicros: Math.round((amountMicros * quantity) / purchase.quantity) };
  const order = {
    state: 'PARTIALLY_REFUNDED',
    changedAt: at,
    partialRefunds: [...partialRefunds, partialRefund],
  } as const;
  const refunded = withOrder({ ...purchase, refundedQuantity: refundedQuantity + quantity }, orderId, order);
  return { purchase: refunded, notifications: [buildVoidedNotification(voided)], voided };
}
