import type { Product } from '../product.ts';
import { requireSubscription } from '../purchase-checks.ts';
import type { Order, Purchase, Subscription, VoidedOrder } from './records.ts';

/** Result of a transition. */
export interface Transition {
  /** Purchase after the transition. */
  readonly purchase: Purchase;
  /** Real-time developer notifications in the order of sending. */
  readonly notifications: readonly DeveloperNotification[];
  /** Purchase that replaces this purchase. */
  readonly successor?: Transition;
  readonly voided?: VoidedOrder;
}

/**
 * Real-time developer notification without its envelope.
 *
 * @see https://developer.android.com/google/play/billing/rtdn-reference
 */
export type DeveloperNotification = Readonly<Record<string, object>>;

/** Time of a transition with the product of the purchase. */
export interface TransitionContext {
  readonly at: number;
  readonly product: Product;
}

const subscriptionTypes = {
  RECOVERED: 1,
  RENEWED: 2,
  CANCELED: 3,
  PURCHASED: 4,
  ON_HOLD: 5,
  IN_GRACE_PERIOD: 6,
  RESTARTED: 7,
  DEFERRED: 9,
  PAUSED: 10,
  PAUSE_SCHEDULE_CHANGED: 11,
  REVOKED: 12,
  EXPIRED: 13,
  ITEMS_CHANGED: 17,
  CANCELLATION_SCHEDULED: 18,
  PRICE_CHANGE_UPDATED: 19,
  PENDING_PURCHASE_CANCELED: 20,
} as const;
export type SubscriptionEvent = keyof typeof subscriptionTypes;

const productTypes = { PURCHASED: 1, CANCELED: 2 } as const;

/** Builds the notification of a subscription. */
export const buildSubscriptionNotification = (
  { id, productId, subscription }: Purchase,
  event: SubscriptionEvent,
): DeveloperNotification => ({
  subscriptionNotification: {
    version: '1.0',
    notificationType: subscriptionTypes[event],
    purchaseToken: id,
    // Google does not name a product of a subscription with add-ons.
    ...(subscription?.items === undefined && { subscriptionId: productId }),
  },
});

/** Builds the notification of a one-time purchase. */
export const buildOneTimeNotification = (
  { id, productId }: Purchase,
  event: keyof typeof productTypes,
): DeveloperNotification => ({
  oneTimeProductNotification: {
    version: '1.0',
    notificationType: productTypes[event],
    purchaseToken: id,
    sku: productId,
  },
});

/** Test notification of the Play Console. */
export const testNotification: DeveloperNotification = { testNotification: { version: '1.0' } };

/** Builds the notification of a voided order. */
export const buildVoidedNotification = ({
  token,
  orderId,
  isSubscription,
  quantity,
}: VoidedOrder): DeveloperNotification => ({
  voidedPurchaseNotification: {
    purchaseToken: token,
    orderId,
    productType: isSubscription ? 1 : 2,
    refundType: quantity === undefined ? 1 : 2,
  },
});

/** Copies a purchase with members of its subscription replaced. */
export const withSubscription = (purchase: Purchase, patch: Partial<Subscription>): Purchase => ({
  ...purchase,
  subscription: { ...requireSubscription(purchase), ...patch },
});

/** Copies a purchase with members of an order replaced. */
export const withOrder = (purchase: Purchase, id: string, patch: Partial<Order>): Purchase => ({
  ...purchase,
  orders: purchase.orders.map((order) => (order.id === id ? { ...order, ...patch } : order)),
});

/** Builds a transition that changes the subscription and sends one notification. */
export const withSubscriptionChange = (
  purchase: Purchase,
  patch: Partial<Subscription>,
  event: SubscriptionEvent,
): Transition => ({
  purchase: withSubscription(purchase, patch),
  notifications: [buildSubscriptionNotification(purchase, event)],
});
