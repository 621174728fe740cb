import * as v from 'valibot';
import { BillingAnchor } from '../billing-anchor.ts';
import { Period } from '../calendar.ts';

/** Pricing phase of an order. */
export const Phase = v.picklist(['base', 'freeTrial', 'introductoryPrice']);
export type Phase = v.InferOutput<typeof Phase>;

/** Order of a purchase. A subscription has one order per period. */
export const Order = v.object({
  id: v.string(),
  state: v.picklist(['PENDING', 'PROCESSED', 'CANCELED', 'REFUNDED', 'PARTIALLY_REFUNDED']),
  createdAt: v.number(),
  changedAt: v.number(),
  productId: v.string(),
  quantity: v.number(),
  /** Price of the whole quantity. */
  amountMicros: v.number(),
  listMicros: v.number(),
  currency: v.string(),
  phase: Phase,
  offerId: v.exactOptional(v.string()),
  /** Period that the order pays for. */
  service: v.exactOptional(v.object({ start: v.number(), end: v.number() })),
  partialRefunds: v.exactOptional(
    v.pipe(v.array(v.object({ at: v.number(), amountMicros: v.number() })), v.readonly()),
  ),
});
export type Order = Readonly<v.InferOutput<typeof Order>>;

/** Price change of a subscription. */
const PriceChange = v.object({
  state: v.picklist(['OUTSTANDING', 'CONFIRMED', 'APPLIED']),
  priceMicros: v.number(),
  /** First renewal with the new price. Without consent the subscription ends then. */
  chargeAt: v.number(),
});

/** Current state of a subscription. */
export const Subscription = v.object({
  state: v.picklist([
    'PENDING',
    'ACTIVE',
    'PAUSED',
    'IN_GRACE_PERIOD',
    'ON_HOLD',
    'CANCELED',
    'EXPIRED',
    'PENDING_PURCHASE_CANCELED',
  ]),
  autoRenew: v.boolean(),
  /** Whether it renews automatically when the clock passes the end of a period. */
  renewsAutomatically: v.boolean(),
  expiryTime: v.number(),
  anchor: BillingAnchor,
  /** Period of the base plan. Default: the period of the product. */
  period: v.exactOptional(Period),
  phase: Phase,
  offerId: v.exactOptional(v.string()),
  priceMicros: v.number(),
  currency: v.string(),
  priceChange: v.exactOptional(PriceChange),
  cancellation: v.exactOptional(v.object({ by: v.picklist(['user', 'system', 'replacement']), at: v.number() })),
  /** Whether it ended because a renewal action is missing. */
  awaitsRenewal: v.exactOptional(v.boolean()),
  holdEnds: v.exactOptional(v.number()),
  resumesAt: v.exactOptional(v.number()),
  /** Token of the expired subscription that the customer resumed in the Play Store app. */
  resubscribes: v.exactOptional(v.string()),
  replaces: v.exactOptional(v.object({ token: v.string(), productId: v.string(), period: Period })),
});
export type Subscription = Readonly<v.InferOutput<typeof Subscription>>;

/** Purchase. Its id is the purchase token. */
export const Purchase = v.object({
  id: v.string(),
  productId: v.string(),
  applicationUsername: v.exactOptional(v.string()),
  sandbox: v.boolean(),
  purchasedAt: v.number(),
  /** Whether the first payment is pending or was abandoned. */
  isUnpaid: v.exactOptional(v.literal(true)),
  isAcknowledged: v.boolean(),
  isConsumed: v.boolean(),
  /** Whether a one-time purchase was canceled or refunded. */
  isCancelled: v.boolean(),
  quantity: v.number(),
  /** Whether Google Play no longer has the purchase. */
  isDeleted: v.exactOptional(v.literal(true)),
  /** Quantity that was refunded while the customer kept the purchase. */
  refundedQuantity: v.exactOptional(v.number()),
  /** Oldest first. */
  orders: v.pipe(v.array(Order), v.readonly()),
  subscription: v.exactOptional(Subscription),
});
export type Purchase = Readonly<v.InferOutput<typeof Purchase>>;

/** Order in the list of voided purchases. */
export const VoidedOrder = v.object({
  token: v.string(),
  orderId: v.string(),
  purchasedAt: v.number(),
  voidedAt: v.number(),
  isSubscription: v.boolean(),
  /** Refunded quantity of a partial refund. */
  quantity: v.exactOptional(v.number()),
});
export type VoidedOrder = Readonly<v.InferOutput<typeof VoidedOrder>>;
