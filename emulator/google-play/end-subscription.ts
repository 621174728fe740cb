import { controlError } from '../control-error.ts';
import { requirePossible, requireSubscription } from '../purchase-checks.ts';
import type { ActionBody } from '../purchase-order.ts';
import { findLatestPaidOrder, getLatestOrder, isPaid } from './orders.ts';
import { getRemainingQuantity, getRemainingTotal, refundAmount, refundPart } from './partial-refund.ts';
import {
  buildSubscriptionNotification,
  buildVoidedNotification,
  type Transition,
  withOrder,
  withSubscription,
} from './purchase-transition.ts';
import type { Order, Purchase, Subscription, VoidedOrder } from './records.ts';

/** Ends the subscription now. A system cancellation does not replace an earlier cancellation. */
export function endSubscription(
  purchase: Purchase,
  at: number,
  by: 'user' | 'developer' | 'system' | 'replacement' = 'system',
): Purchase {
  const { expiryTime, cancellation = { by, at } } = requireSubscription(purchase);
  const patch: Partial<Subscription> = { state: 'EXPIRED', autoRenew: false, expiryTime: Math.min(expiryTime, at) };
  return withSubscription(cancelUnpaidOrder(purchase, at), {
    ...patch,
    cancellation: by === 'system' ? cancellation : { by, at },
  });
}

/** Cancels the pending order of a purchase. */
export function cancelUnpaidOrder(purchase: Purchase, at: number): Purchase {
  const { id, state } = getLatestOrder(purchase);
  return state === 'PENDING' ? withOrder(purchase, id, { state: 'CANCELED', changedAt: at }) : purchase;
}

/** Ends the subscription now. In account hold this also cancels it. */
export function expire(purchase: Purchase, at: number): Transition {
  const { state } = requireSubscription(purchase);
  requirePossible(state !== 'EXPIRED', purchase, 'is already EXPIRED');
  const expired = buildSubscriptionNotification(purchase, 'EXPIRED');
  const notifications =
    state === 'ON_HOLD' ? [buildSubscriptionNotification(purchase, 'CANCELED'), expired] : [expired];
  return { purchase: endSubscription(purchase, at), notifications };
}

/** Ends a period without a renewal action. A later `renew` or `fail-payment` continues the subscription. */
export function lapse(purchase: Purchase, at: number): Transition {
  const { isPrepaid } = requireSubscription(purchase);
  const lapsed = withSubscription(endSubscription(purchase, at), { ...(!isPrepaid && { awaitsRenewal: true }) });
  return { purchase: lapsed, notifications: [buildSubscriptionNotification(purchase, 'EXPIRED')] };
}

/**
 * Refunds an order. A subscription continues; a one-time purchase is revoked, unless only a part is refunded.
 *
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/orders/refund
 */
export function refund(
  purchase: Purchase,
  at: number,
  { transactionId, quantity, amountMicros: refundedMicros }: ActionBody = {},
): Transition {
  const order = selectOrder(purchase, transactionId);
  const { id, state, amountMicros } = order;
  requirePossible(isPaid(state) && amountMicros > 0, purchase, `does not have a payment to refund for ${id}`);
  if (refundedMicros !== undefined && refundedMicros !== getRemainingTotal(order, purchase))
    return refundAmount(purchase, { at, order, amountMicros: refundedMicros });
  const isPartial = quantity !== undefined && quantity !== getRemainingQuantity(purchase);
  if (purchase.subscription === undefined) return isPartial ? refundPart(purchase, at, quantity) : revoke(purchase, at);
  requirePossible(!isPartial, purchase, 'is a subscription and cannot be refunded partially');
  return { purchase: withOrder(purchase, id, { state: 'REFUNDED', changedAt: at }), notifications: [] };
}

/** Refunds the latest order and revokes the purchase. */
export function revoke(purchase: Purchase, at: number): Transition {
  const { id, state, amountMicros } = selectOrder(purchase);
  const isSubscription = purchase.subscription !== undefined;
  const hasEnded = purchase.isCancelled || purchase.subscription?.state === 'EXPIRED';
  requirePossible(!hasEnded, purchase, `is already ${isSubscription ? 'EXPIRED' : 'CANCELLED'}`);
  const voided: VoidedOrder = {
    token: purchase.id,
    orderId: id,
    purchasedAt: purchase.purchasedAt,
    voidedAt: at,
    isSubscription,
  };
  const finalState = amountMicros > 0 ? ('REFUNDED' as const) : ('CANCELED' as const);
  const refunded = isPaid(state) ? withOrder(purchase, id, { state: finalState, changedAt: at }) : purchase;
  const voidedNotification = buildVoidedNotification(voided);
  if (!isSubscription)
    return { purchase: { ...refunded, isCancelled: true }, notifications: [voidedNotification], voided };
  const { cancellation: _replaced, ...subscription } = requireSubscription(refunded);
  const notifications = [
    buildSubscriptionNotification(purchase, 'REVOKED'),
    voidedNotification,
    buildSubscriptionNotification(purchase, 'EXPIRED'),
  ];
  return { purchase: endSubscription({ ...refunded, subscription }, at), notifications, voided };
}

/** Returns the order with this id, by default the latest paid one. */
export function selectOrder(purchase: Purchase, orderId?: string): Order {
  if (orderId === undefined) return findLatestPaidOrder(purchase) ?? getLatestOrder(purchase);
  const order = purchase.orders.find(({ id }) => id === orderId);
  if (order === undefined) throw controlError(422, `transactionId: ${purchase.id} does not have order ${orderId}.`);
  return order;
}
