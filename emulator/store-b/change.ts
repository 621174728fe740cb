import { refusal } from '../refusal.ts';
import type { PlacedOrder, Product, Purchase, Subscription, Voided } from './records.ts';

/** What came of something that happened. */
export interface Change {
  /** The one that it happened to. */
  readonly purchase: Purchase;
  /** The real-time developer notifications of it, in their order. */
  readonly notices: readonly Notice[];
  /** A purchase that takes its place. */
  readonly successor?: Change;
  readonly voided?: Voided;
}

/** A notification without its envelope. */
export type Notice = Readonly<Record<string, object>>;

/** When something happens, and to a purchase of which product. */
export interface Moment {
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
export const told = ({ id, productId }: Purchase, event: SubscriptionEvent): Notice => ({
  subscriptionNotification: {
    version: '1.0',
    notificationType: subscriptionTypes[event],
    purchaseToken: id,
    subscriptionId: productId,
  },
});

/** The notification of a one-time purchase. */
export const toldOnce = ({ id, productId }: Purchase, event: keyof typeof productTypes): Notice => ({
  oneTimeProductNotification: {
    version: '1.0',
    notificationType: productTypes[event],
    purchaseToken: id,
    sku: productId,
  },
});

/** The notification by which a developer tries whether notifications arrive. */
export const toldTest: Notice = { testNotification: { version: '1.0' } };

/** The notification that an order is void. */
export const toldVoided = ({ token, orderId, isSubscription, quantity }: Voided): Notice => ({
  voidedPurchaseNotification: {
    purchaseToken: token,
    orderId,
    productType: isSubscription ? 1 : 2,
    refundType: quantity === undefined ? 1 : 2,
  },
});

/** The subscription of a purchase; refuses a purchase that is none. */
export function subscriptionOf({ id, subscription }: Purchase): Subscription {
  if (subscription === undefined) throw refusal(422, `${id} is not a subscription.`);
  return subscription;
}

/** Refuses what the state of the purchase does not allow. */
export function demand(isPossible: boolean, { id }: Purchase, problem: string): asserts isPossible {
  if (!isPossible) throw refusal(422, `${id} ${problem}.`);
}

/** The purchase with some things of its subscription changed. */
export const withSubscription = (purchase: Purchase, patch: Partial<Subscription>): Purchase => ({
  ...purchase,
  subscription: { ...subscriptionOf(purchase), ...patch },
});

/** The purchase with one of its orders changed. */
export const withOrder = (purchase: Purchase, id: string, patch: Partial<PlacedOrder>): Purchase => ({
  ...purchase,
  orders: purchase.orders.map((order) => (order.id === id ? { ...order, ...patch } : order)),
});

/** The change that is only of the subscription, with one notification. */
export const changed = (purchase: Purchase, patch: Partial<Subscription>, event: SubscriptionEvent): Change => ({
  purchase: withSubscription(purchase, patch),
  notices: [told(purchase, event)],
});
