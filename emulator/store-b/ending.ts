import type { ActionDetails } from '../orders.ts';
import { refusal } from '../refusal.ts';
import { type Change, demand, subscriptionOf, told, toldVoided, withOrder, withSubscription } from './change.ts';
import { leftOf, refundPart } from './partial-refund.ts';
import { latestOrder, latestPaidOrder } from './placing.ts';
import type { PlacedOrder, Purchase, Subscription, Voided } from './records.ts';

/** The subscription over now, for the reason that it had already or for this one. */
export function ended(purchase: Purchase, at: number, by: 'user' | 'system' | 'replacement' = 'system'): Purchase {
  const { expiryTime, cancelled = { by, at } } = subscriptionOf(purchase);
  const patch: Partial<Subscription> = { state: 'EXPIRED', autoRenew: false, expiryTime: Math.min(expiryTime, at) };
  return withSubscription(withoutUnpaid(purchase, at), {
    ...patch,
    cancelled: by === 'system' ? cancelled : { by, at },
  });
}

/** The purchase with the order that it waited for given up. */
export function withoutUnpaid(purchase: Purchase, at: number): Purchase {
  const { id, state } = latestOrder(purchase);
  return state === 'PENDING' ? withOrder(purchase, id, { state: 'CANCELED', changedAt: at }) : purchase;
}

/** The subscription ends now; one in account hold is cancelled by that. */
export function expire(purchase: Purchase, at: number): Change {
  const { state } = subscriptionOf(purchase);
  demand(state !== 'EXPIRED', purchase, 'is EXPIRED already');
  const expired = told(purchase, 'EXPIRED');
  const notices = state === 'ON_HOLD' ? [told(purchase, 'CANCELED'), expired] : [expired];
  return { purchase: ended(purchase, at), notices };
}

/** The end of a paid period of which nobody has said how its renewal went. */
export function lapse(purchase: Purchase, at: number): Change {
  const lapsed = withSubscription(ended(purchase, at), { awaitsRenewal: true });
  return { purchase: lapsed, notices: [told(purchase, 'EXPIRED')] };
}

/** The developer pays an order back: a subscription goes on, anything else is taken away. */
export function refund(purchase: Purchase, at: number, { transactionId, quantity }: ActionDetails = {}): Change {
  const { id, state, amountMicros } = wantedOrder(purchase, transactionId);
  const isPaid = state === 'PROCESSED' || state === 'PARTIALLY_REFUNDED';
  demand(isPaid && amountMicros > 0, purchase, `has nothing to pay back for ${id}`);
  const isSome = quantity !== undefined && quantity !== leftOf(purchase);
  if (purchase.subscription === undefined) return isSome ? refundPart(purchase, at, quantity) : revoke(purchase, at);
  demand(!isSome, purchase, 'is a subscription, of which there is one');
  return { purchase: withOrder(purchase, id, { state: 'REFUNDED', changedAt: at }), notices: [] };
}

/** The developer pays the latest order back and takes away what was bought. */
export function revoke(purchase: Purchase, at: number): Change {
  const { id, state, amountMicros } = wantedOrder(purchase);
  const isSubscription = purchase.subscription !== undefined;
  const isOver = purchase.isCancelled || purchase.subscription?.state === 'EXPIRED';
  demand(!isOver, purchase, `is ${isSubscription ? 'EXPIRED' : 'CANCELLED'} already`);
  const voided: Voided = {
    token: purchase.id,
    orderId: id,
    purchasedAt: purchase.purchasedAt,
    voidedAt: at,
    isSubscription,
  };
  const paidBack = amountMicros > 0 ? ('REFUNDED' as const) : ('CANCELED' as const);
  const isPaid = state === 'PROCESSED' || state === 'PARTIALLY_REFUNDED';
  const back = isPaid ? withOrder(purchase, id, { state: paidBack, changedAt: at }) : purchase;
  const void_ = toldVoided(voided);
  if (!isSubscription) return { purchase: { ...back, isCancelled: true }, notices: [void_], voided };
  const { cancelled: _earlier, ...subscription } = subscriptionOf(back);
  const notices = [told(purchase, 'REVOKED'), void_, told(purchase, 'EXPIRED')];
  return { purchase: ended({ ...back, subscription }, at), notices, voided };
}

function wantedOrder(purchase: Purchase, orderId?: string): PlacedOrder {
  if (orderId === undefined) return latestPaidOrder(purchase) ?? latestOrder(purchase);
  const order = purchase.orders.find(({ id }) => id === orderId);
  if (order === undefined) throw refusal(422, `transactionId: ${purchase.id} has no order ${orderId}.`);
  return order;
}
