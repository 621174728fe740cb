import { getPeriodEnd } from '../billing-anchor.ts';
import { addPeriod, floorToSecond } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import type { Product } from '../product.ts';
import { requirePossible, requireSubscription } from '../purchase-checks.ts';
import { endSubscription, revoke } from './end-subscription.ts';
import { generateOrderId, generatePurchaseToken } from './orders.ts';
import { getRemainingTotal } from './partial-refund.ts';
import { buildSubscriptionNotification, type Transition, withOrder } from './purchase-transition.ts';
import type { Order, Purchase, SubscriptionItem } from './records.ts';
import { omitEndState } from './renewal.ts';
import { findDeferredItem, listLines, requireItem, sumLines, toLine, withItem } from './subscription-items.ts';
import { computeTax } from './tax.ts';

/**
 * Adds an item in the app, with a prorated charge until the next renewal of the base item. The other items are kept.
 * The new purchase has its own token.
 *
 * @see https://developer.android.com/google/play/billing/subscription-with-addons#modify-subs-add-ons
 */
export function addItem(purchase: Purchase, product: Product, at: number): Transition {
  const { anchor, items = [toBaseItem(purchase)] } = requireSubscription(purchase);
  if (items.some(({ productId }) => productId === product.id))
    throw controlError(422, `productId: ${purchase.id} already has ${product.id}.`);
  const end = getPeriodEnd(anchor);
  const length = end - addPeriod(anchor.date, anchor.period, anchor.periods - 1);
  const amountMicros = Math.round((product.priceMicros * (end - at)) / length / 10_000) * 10_000;
  const line = { ...toLine(product.id, amountMicros), listMicros: product.priceMicros };
  const orderId = generateOrderId();
  const added = { productId: product.id, priceMicros: product.priceMicros, orderId, isProrated: true as const };
  return replacePurchase(purchase, at, { orderId, lines: [line], items: [...items, added] });
}

/** Removes an item in the app: it ends with its period. The new purchase has its own token. */
export function removeItem(purchase: Purchase, at: number, productId: string | undefined): Transition {
  const { productId: removedId } = requireItem(purchase, at, productId);
  const subscription = requireSubscription(purchase);
  const endsAt = subscription.expiryTime;
  const { items = [] } = withItem(subscription, removedId, (item) => ({ ...item, endsAt, isRemoved: true }));
  return replacePurchase(purchase, at, {
    orderId: generateOrderId(),
    lines: [toLine(purchase.productId, 0)],
    items,
  });
}

/**
 * Revokes and refunds one item, as `purchases.subscriptionsv2.revoke` with `itemBasedRefund`.
 *
 * @see https://developer.android.com/google/play/billing/subscription-with-addons#revoke-item
 */
export function revokeItem(purchase: Purchase, at: number, productId: string | undefined): Transition {
  const subscription = requireSubscription(purchase);
  requirePossible(
    subscription.state === 'ACTIVE' || subscription.state === 'CANCELED',
    purchase,
    'is in a declined state',
  );
  if (subscription.items === undefined) return revoke(purchase, at);
  const { orderId, productId: revokedId } = requireItem(purchase, at, productId);
  const revoked = { ...purchase, subscription: withItem(subscription, revokedId, (item) => ({ ...item, endsAt: at })) };
  const order = purchase.orders.find(({ id }) => id === orderId);
  return {
    purchase: order ? refundLine(revoked, order, { productId: revokedId, at }) : revoked,
    notifications: [buildSubscriptionNotification(purchase, 'ITEMS_CHANGED')],
  };
}

function refundLine(
  purchase: Purchase,
  order: Order,
  { productId, at }: { readonly productId: string; readonly at: number },
): Purchase {
  const paidMicros = listLines(order).find((line) => line.productId === productId)?.amountMicros ?? 0;
  const amountMicros = Math.min(paidMicros + computeTax(paidMicros, purchase), getRemainingTotal(order, purchase));
  if (amountMicros === 0) return purchase;
  return withOrder(purchase, order.id, {
    state: 'PARTIALLY_REFUNDED',
    changedAt: at,
    partialRefunds: [...(order.partialRefunds ?? []), { at, amountMicros }],
  });
}

export const toBaseItem = (purchase: Purchase): SubscriptionItem => ({
  productId: purchase.productId,
  priceMicros: requireSubscription(purchase).priceMicros,
  orderId: purchase.orders.at(-1)?.id ?? '',
});

interface ChangedItems {
  readonly orderId: string;
  /** Lines of the order of the change. */
  readonly lines: NonNullable<Order['lines']>;
  readonly items: readonly SubscriptionItem[];
  readonly isDeferred?: true;
}

/** Replaces a purchase by one with other items. The kept items keep their payment schedule and their latest order. */
export function replacePurchase(
  purchase: Purchase,
  changedAt: number,
  { orderId, lines, items, isDeferred }: ChangedItems,
): Transition {
  const at = floorToSecond(changedAt);
  const subscription = requireSubscription(purchase);
  const { state, anchor, expiryTime, currency } = subscription;
  requirePossible(state === 'ACTIVE', purchase, `is ${state}: its items cannot be changed`);
  requirePossible(!findDeferredItem(subscription), purchase, 'has a deferred change');
  const amountMicros = sumLines(lines);
  const order: Order = {
    id: orderId,
    state: 'PROCESSED',
    createdAt: at,
    changedAt: at,
    productId: purchase.productId,
    quantity: 1,
    amountMicros,
    listMicros: sumLines(lines.map(({ productId, listMicros }) => toLine(productId, listMicros))),
    currency,
    lines,
    phase: items.some((item) => item.orderId === orderId && item.isProrated) ? 'prorationPeriod' : 'base',
    service: { start: at, end: expiryTime },
  };
  const replaced = { token: purchase.id, productId: purchase.productId, period: anchor.period };
  const replaces = { ...replaced, ...(isDeferred && { isDeferred }) };
  const { isConsumed, isCancelled, sandbox, quantity, productId, applicationUsername } = purchase;
  const successor: Purchase = {
    id: generatePurchaseToken(),
    productId,
    ...(applicationUsername !== undefined && { applicationUsername }),
    sandbox,
    purchasedAt: at,
    isAcknowledged: false,
    isConsumed,
    isCancelled,
    quantity,
    orders: [order],
    subscription: { ...omitEndState(purchase), items, replaces },
  };
  return {
    purchase: endSubscription(purchase, at, 'replacement'),
    notifications: [buildSubscriptionNotification(purchase, 'EXPIRED')],
    successor: { purchase: successor, notifications: [buildSubscriptionNotification(successor, 'PURCHASED')] },
  };
}
