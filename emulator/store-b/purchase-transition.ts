import { controlError } from '../control-error.ts';
import type { Order, Product, Purchase, Subscription, VoidedOrder } from './records.ts';

/** What came of something that happened. */
export interface Transition {
  /** The one that it happened to. */
  readonly purchase: Purchase;
  /** The real-time developer notifications of it, in their order. */
  readonly notifications: readonly DeveloperNotification[];
  /** A purchase that takes its place. */
  readonly successor?: Transition;
  readonly voided?: VoidedOrder;
}

/** A notification without its envelope. */
export type DeveloperNotification = Readonly<Record<string, object>>;

/** When something happens, and to a purchase of which product. */
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
  PAUSED: 10,
  PAUSE_SCHEDULE_CHANGED: 11,
  REVOKED: 12,
  EXPIRED: 13,
  PRICE_CHANGE_UPDATED: 19,
} as const;
export type SubscriptionEvent = keyof typeof subscriptionTypes;

const productTypes = { PURCHASED: 1, CANCELED: 2 } as const;

/** The notification of a subscription. */
export const buildSubscriptionNotification = (
  { id, productId }: Purchase,
  event: SubscriptionEvent,
): DeveloperNotification => ({
  subscriptionNotification: {
    version: '1.0',
    notificationType: subscriptionTypes[event],
    purchaseToken: id,
    subscriptionId: productId,
  },
});

/** The notification of a one-time purchase. */
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

/** The notification by which a developer tries whether notifications arrive. */
export const testNotification: DeveloperNotification = { testNotification: { version: '1.0' } };

/** The notification that an order is void. */
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

/** The subscription of a purchase; refuses a purchase that is none. */
export function requireSubscription({ id, subscription }: Purchase): Subscription {
  if (subscription === undefined) throw controlError(422, `${id} is not a subscription.`);
  return subscription;
}

/** Refuses what the state of the purchase does not allow. */
export function requirePossible(isPossible: boolean, { id }: Purchase, problem: string): asserts isPossible {
  if (!isPossible) throw controlError(422, `${id} ${problem}.`);
}

/** The purchase with some things of its subscription changed. */
export const withSubscription = (purchase: Purchase, patch: Partial<Subscription>): Purchase => ({
  ...purchase,
  subscription: { ...requireSubscription(purchase), ...patch },
});

/** The purchase with one of its orders changed. */
export const withOrder = (purchase: Purchase, id: string, patch: Partial<Order>): Purchase => ({
  ...purchase,
  orders: purchase.orders.map((order) => (order.id === id ? { ...order, ...patch } : order)),
});

/** The change that is only of the subscription, with one notification. */
export const withSubscriptionChange = (
  purchase: Purchase,
  patch: Partial<Subscription>,
  event: SubscriptionEvent,
): Transition => ({
  purchase: withSubscription(purchase, patch),
  notifications: [buildSubscriptionNotification(purchase, event)],
});
