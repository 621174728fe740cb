import * as v from 'valibot';
import { Period } from '../calendar.ts';
import { ProductType } from '../purchase-order.ts';

/** Something for sale; a subscription has one base plan, named for its period. */
export const Product = v.object({
  id: v.string(),
  type: ProductType,
  priceMicros: v.number(),
  currency: v.string(),
  /** Between payments of a subscription. */
  period: v.exactOptional(Period),
});
export type Product = Readonly<v.InferOutput<typeof Product>>;

/** The pricing phase that an order pays for. */
export const Phase = v.picklist(['base', 'freeTrial', 'introductoryPrice']);
export type Phase = v.InferOutput<typeof Phase>;

/** An order of a purchase: of a subscription, one for each period. */
export const Order = v.object({
  id: v.string(),
  state: v.picklist(['PENDING', 'PROCESSED', 'CANCELED', 'REFUNDED', 'PARTIALLY_REFUNDED']),
  createdAt: v.number(),
  changedAt: v.number(),
  productId: v.string(),
  quantity: v.number(),
  /** For all of the quantity. */
  amountMicros: v.number(),
  listMicros: v.number(),
  currency: v.string(),
  phase: Phase,
  offerId: v.exactOptional(v.string()),
  /** The period that it pays for. */
  service: v.exactOptional(v.object({ start: v.number(), end: v.number() })),
  partialRefunds: v.exactOptional(
    v.pipe(v.array(v.object({ at: v.number(), amountMicros: v.number() })), v.readonly()),
  ),
});
export type Order = Readonly<v.InferOutput<typeof Order>>;

/** A price that the developer asks for from a coming renewal on. */
const PriceChange = v.object({
  state: v.picklist(['OUTSTANDING', 'CONFIRMED', 'APPLIED']),
  priceMicros: v.number(),
  /** Renewals from here on cost it, or do not happen without consent. */
  chargeAt: v.number(),
});

/** What only subscriptions have. */
export const Subscription = v.object({
  state: v.picklist(['ACTIVE', 'PAUSED', 'IN_GRACE_PERIOD', 'ON_HOLD', 'CANCELED', 'EXPIRED']),
  autoRenew: v.boolean(),
  /** Whether it renews by itself when the clock passes the end of a period. */
  renewsAutomatically: v.boolean(),
  expiryTime: v.number(),
  /** The current period ends `periods` periods after `date`, so that a month of 31 days keeps its day. */
  anchor: v.object({ date: v.number(), period: Period, periods: v.number() }),
  phase: Phase,
  offerId: v.exactOptional(v.string()),
  priceMicros: v.number(),
  currency: v.string(),
  priceChange: v.exactOptional(PriceChange),
  cancelled: v.exactOptional(v.object({ by: v.picklist(['user', 'system', 'replacement']), at: v.number() })),
  /** It ended only because nobody has said yet how its renewal went. */
  awaitsRenewal: v.exactOptional(v.boolean()),
  holdEnds: v.exactOptional(v.number()),
  resumesAt: v.exactOptional(v.number()),
  replaces: v.exactOptional(v.object({ token: v.string(), productId: v.string(), period: Period })),
});
export type Subscription = Readonly<v.InferOutput<typeof Subscription>>;

/** A purchase, whose token is its id. */
export const Purchase = v.object({
  id: v.string(),
  productId: v.string(),
  applicationUsername: v.exactOptional(v.string()),
  sandbox: v.boolean(),
  purchasedAt: v.number(),
  isAcknowledged: v.boolean(),
  isConsumed: v.boolean(),
  /** The developer or the customer took back what is no subscription. */
  isCancelled: v.boolean(),
  quantity: v.number(),
  /** How many were paid back while the customer kept the purchase. */
  refundedQuantity: v.exactOptional(v.number()),
  /** Oldest first. */
  orders: v.pipe(v.array(Order), v.readonly()),
  subscription: v.exactOptional(Subscription),
});
export type Purchase = Readonly<v.InferOutput<typeof Purchase>>;

/** An order that the customer lost what they had bought by, or some of it. */
export const VoidedOrder = v.object({
  token: v.string(),
  orderId: v.string(),
  purchasedAt: v.number(),
  voidedAt: v.number(),
  isSubscription: v.boolean(),
  /** How many were paid back, when it was not the whole order. */
  quantity: v.exactOptional(v.number()),
});
export type VoidedOrder = Readonly<v.InferOutput<typeof VoidedOrder>>;
