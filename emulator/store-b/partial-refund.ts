import { getLatestOrder } from './orders.ts';
import { buildVoidedNotification, requirePossible, type Transition, withOrder } from './purchase-transition.ts';
import type { Purchase, VoidedOrder } from './records.ts';

/** How many of a one-time purchase are not paid back. */
export const getRemainingQuantity = ({ isCancelled, quantity, refundedQuantity = 0 }: Purchase): number =>
  isCancelled ? 0 : quantity - refundedQuantity;

/** The developer pays some of a one-time purchase back; the customer keeps what they bought. */
export function refundPart(purchase: Purchase, at: number, quantity: number): Transition {
  const { id: token, purchasedAt, refundedQuantity = 0 } = purchase;
  const { id: orderId, amountMicros, partialRefunds = [] } = getLatestOrder(purchase);
  requirePossible(
    quantity <= getRemainingQuantity(purchase),
    purchase,
    `has only ${getRemainingQuantity(purchase)} left to pay back`,
  );
  const voided: VoidedOrder = { token, orderId, purchasedAt, voidedAt: at, isSubscription: false, quantity };
  const back = { at, amountMicros: Math.round((amountMicros * quantity) / purchase.quantity) };
  const order = {
    state: 'PARTIALLY_REFUNDED',
    changedAt: at,
    partialRefunds: [...partialRefunds, back],
  } as const;
  const paidBack = withOrder({ ...purchase, refundedQuantity: refundedQuantity + quantity }, orderId, order);
  return { purchase: paidBack, notifications: [buildVoidedNotification(voided)], voided };
}
