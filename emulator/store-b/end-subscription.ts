import { controlError } from '../control-error.ts';
import type { ActionBody } from '../purchase-order.ts';
import { findLatestPaidOrder, getLatestOrder } from './orders.ts';
import { getRemainingQuantity, refundPart } from './partial-refund.ts';
import {
  buildSubscriptionNotification,
  buildVoidedNotification,
  requirePossible,
  requireSubscription,
  type Transition,
  withOrder,
  withSubscription,
} from './purchase-transition.ts';
import type { Order, Purchase, Subscription, VoidedOrder } from './records.ts';

/** The subscription over now, for the reason that it had already or for this one. */
export function endSubscription(
  purchase: Purchase,
  at: number,
  by: 'user' | 'system' | 'replacement' = 'system',
): Purchase {
  const { expiryTime, cancelled = { by, at } } = requireSubscription(purchase);
  const patch: Partial<Subscription> = { state: 'EXPIRED', autoRenew: false, expiryTime: Math.min(expiryTime, at) };
  return withSubscription(cancelUnpaidOrder(purchase, at), {
    ...patch,
    cancelled: by === 'system' ? cancelled : { by, at },
  });
}

/** The purchase with the order that it waited for given up. */
export function cancelUnpaidOrder(purchase: Purchase, at: number): Purchase {
  const { id, state } = getLatestOrder(purchase);
  return state === 'PENDING' ? withOrder(purchase, id, { state: 'CANCELED', changedAt: at }) : purchase;
}

/** The subscription ends now; one in account hold is cancelled by that. */
export function expire(purchase: Purchase, at: number): Transition {
  const { state } = requireSubscription(purchase);
  requirePossible(state !== 'EXPIRED', purchase, 'is EXPIRED already');
  const expired = buildSubscriptionNotification(purchase, 'EXPIRED');
  const notifications =
    state === 'ON_HOLD' ? [buildSubscriptionNotification(purchase, 'CANCELED'), expired] : [expired];
  return { purchase: endSubscription(purchase, at), notifications };
}

/** The end of a paid period of which nobody has said how its renewal went. */
export function lapse(purchase: Purchase, at: number): Transition {
  const lapsed = withSubscription(endSubscription(purchase, at), { awaitsRenewal: true });
  return { purchase: lapsed, notifications: [buildSubscriptionNotification(purchase, 'EXPIRED')] };
}

/** The developer pays an order back: a subscription goes on, anything else is taken away. */
export function refund(purchase: Purchase, at: number, { transactionId, quantity }: ActionBody = {}): Transition {
  const { id, state, amountMicros } = wantedOrder(purchase, transactionId);
  const isPaid = state === 'PROCESSED' || state === 'PARTIALLY_REFUNDED';
  requirePossible(isPaid && amountMicros > 0, purchase, `has nothing to pay back for ${id}`);
  const isSome = quantity !== undefined && quantity !== getRemainingQuantity(purchase);
  if (purchase.subscription === undefined) return isSome ? refundPart(purchase, at, quantity) : revoke(purchase, at);
  requirePossible(!isSome, purchase, 'is a subscription, of which there is one');
  return { purchase: withOrder(purchase, id, { state: 'REFUNDED', changedAt: at }), notifications: [] };
}

/** The developer pays the latest order back and takes away what was bought. */
export function revoke(purchase: Purchase, at: number): Transition {
  const { id, state, amountMicros } = wantedOrder(purchase);
  const isSubscription = purchase.subscription !== undefined;
  const isOver = purchase.isCancelled || purchase.subscription?.state === 'EXPIRED';
  requirePossible(!isOver, purchase, `is ${isSubscription ? 'EXPIRED' : 'CANCELLED'} already`);
  const voided: VoidedOrder = {
    token: purchase.id,
    orderId: id,
    purchasedAt: purchase.purchasedAt,
    voidedAt: at,
    isSubscription,
  };
  const paidBack = amountMicros > 0 ? ('REFUNDED' as const) : ('CANCELED' as const);
  const isPaid = state === 'PROCESSED' || state === 'PARTIALLY_REFUNDED';
  const back = isPaid ? withOrder(purchase, id, { state: paidBack, changedAt: at }) : purchase;
  const void_ = buildVoidedNotification(voided);
  if (!isSubscription) return { purchase: { ...back, isCancelled: true }, notifications: [void_], voided };
  const { cancelled: _earlier, ...subscription } = requireSubscription(back);
  const notifications = [
    buildSubscriptionNotification(purchase, 'REVOKED'),
    void_,
    buildSubscriptionNotification(purchase, 'EXPIRED'),
  ];
  return { purchase: endSubscription({ ...back, subscription }, at), notifications, voided };
}

function wantedOrder(purchase: Purchase, orderId?: string): Order {
  if (orderId === undefined) return findLatestPaidOrder(purchase) ?? getLatestOrder(purchase);
  const order = purchase.orders.find(({ id }) => id === orderId);
  if (order === undefined) throw controlError(422, `transactionId: ${purchase.id} has no order ${orderId}.`);
  return order;
}
