import { getPeriodEnd } from '../billing-anchor.ts';
import { dayMs, type Period } from '../calendar.ts';
import { requirePossible, requireSubscription } from '../purchase-checks.ts';
import { getGraceDays } from './catalogue.ts';
import { cancelUnpaidOrder } from './end-subscription.ts';
import { buildRenewalOrder, getLatestOrder } from './orders.ts';
import { buildSubscriptionNotification, type Transition, withOrder, withSubscription } from './purchase-transition.ts';
import type { Purchase, Subscription, SubscriptionItem } from './records.ts';
import { requireItem, toLine, withItem } from './subscription-items.ts';

/**
 * Declines the payment of one item during the period of the others, for example at the end of its trial. The whole
 * purchase enters the grace period, and account hold after it.
 *
 * @see https://developer.android.com/google/play/billing/subscription-with-addons#item-expiration
 */
export function declineItem(
  purchase: Purchase,
  { at, period, productId }: { readonly at: number; readonly period: Period; readonly productId: string },
): Purchase {
  const { priceMicros } = requireItem(purchase, at, productId);
  const subscription = requireSubscription(purchase);
  requirePossible(subscription.state === 'ACTIVE', purchase, `is ${subscription.state}: no payment is due`);
  const service = { start: at, end: getPeriodEnd(subscription.anchor) };
  const lines = [toLine(productId, priceMicros)];
  const unpaid = buildRenewalOrder(purchase, { at, state: 'PENDING', priceMicros, lines, service });
  const endsAt = at + getGraceDays(period) * dayMs;
  const inGrace = withItem(subscription, productId, (item) => ({ ...item, endsAt, isDeclined: true }));
  return {
    ...purchase,
    orders: [...purchase.orders, unpaid],
    subscription: { ...inGrace, state: 'IN_GRACE_PERIOD' },
  };
}

export const hasDeclinedItems = ({ subscription }: Purchase): boolean =>
  subscription?.items?.some(({ isDeclined }) => isDeclined) === true;

/** Returns the end of the grace period of declined items. */
export const getDeclinedEnd = ({ items = [] }: Subscription): number | undefined =>
  items.find(({ isDeclined }) => isDeclined)?.endsAt;

/** Starts account hold: all items are suspended, and the items that were paid keep the rest of their period. */
export const suspendPaidItems = (subscription: Subscription, at: number): Subscription => ({
  ...withDeclinedItems(subscription, (item) => ({ ...item, endsAt: at })),
  heldMs: Math.max(0, subscription.expiryTime - at),
});

/** Pays the declined items. The billing date of a purchase on hold moves by the duration of the hold. */
export function recoverItems(purchase: Purchase, at: number): Transition {
  const { state, heldMs, holdEnds: _ends, ...subscription } = requireSubscription(purchase);
  const { id } = getLatestOrder(purchase);
  const paid = withDeclinedItems(subscription as Subscription, ({ endsAt: _end, isDeclined: _declined, ...item }) => ({
    ...item,
    orderId: id,
  }));
  const recovered = { ...paid, state: 'ACTIVE' as const, ...resumeBilling(subscription as Subscription, heldMs, at) };
  return {
    purchase: {
      ...withOrder(purchase, id, { state: 'PROCESSED', changedAt: at, processedAt: at }),
      subscription: recovered,
    },
    notifications: [buildSubscriptionNotification(purchase, state === 'ON_HOLD' ? 'RECOVERED' : 'RENEWED')],
  };
}

/** Ends account hold without a payment: the declined items end, and the others resume for the rest of their period. */
export function dropDeclinedItems(purchase: Purchase, at: number, by: 'user' | 'system'): Transition {
  const { heldMs, holdEnds: _ends, ...subscription } = requireSubscription(purchase);
  const resumed = withSubscription(
    { ...cancelUnpaidOrder(purchase, at), subscription: subscription as Subscription },
    {
      state: 'CANCELED',
      autoRenew: false,
      cancellation: { by, at },
      ...resumeBilling(subscription as Subscription, heldMs, at),
    },
  );
  return { purchase: resumed, notifications: [buildSubscriptionNotification(purchase, 'CANCELED')] };
}

/** Returns the held time from now on. */
function resumeBilling({ anchor }: Subscription, heldMs: number | undefined, at: number): Partial<Subscription> {
  if (heldMs === undefined) return {};
  const expiryTime = at + heldMs;
  return { expiryTime, anchor: { date: expiryTime, period: anchor.period, periods: 0 } };
}

const withDeclinedItems = (
  { items = [], ...subscription }: Subscription,
  change: (item: SubscriptionItem) => SubscriptionItem,
): Subscription => ({ ...subscription, items: items.map((item) => (item.isDeclined ? change(item) : item)) });
