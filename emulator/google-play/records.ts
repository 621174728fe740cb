import * as v from 'valibot';
import { BillingAnchor } from '../billing-anchor.ts';
import { Period } from '../calendar.ts';

/** Pricing phase of an order. */
export const Phase = v.picklist(['base', 'freeTrial', 'introductoryPrice', 'prorationPeriod']);
export type Phase = v.InferOutput<typeof Phase>;

/** Line of an order with several products. */
const OrderLine = v.object({ productId: v.string(), amountMicros: v.number(), listMicros: v.number() });

/** Order of a purchase. A subscription has one order per period. */
export const Order = v.object({
  id: v.string(),
  state: v.picklist(['PENDING', 'PROCESSED', 'CANCELED', 'REFUNDED', 'PARTIALLY_REFUNDED']),
  createdAt: v.number(),
  changedAt: v.number(),
  productId: v.string(),
  quantity: v.number(),
  /** Time of the payment if it differs from the creation. */
  processedAt: v.exactOptional(v.number()),
  /** Price of the whole quantity and of all lines, without tax. */
  amountMicros: v.number(),
  listMicros: v.number(),
  currency: v.string(),
  /** Lines of an order for a subscription with add-ons. Default: one line for `productId`. */
  lines: v.exactOptional(v.pipe(v.array(OrderLine), v.readonly())),
  phase: Phase,
  offerId: v.exactOptional(v.string()),
  /** Period that the order pays for. */
  service: v.exactOptional(v.object({ start: v.number(), end: v.number() })),
  partialRefunds: v.exactOptional(
    v.pipe(v.array(v.object({ at: v.number(), amountMicros: v.number() })), v.readonly()),
  ),
});
export type Order = Readonly<v.InferOutput<typeof Order>>;

/** Item of a subscription with add-ons. */
const SubscriptionItem = v.object({
  productId: v.string(),
  priceMicros: v.number(),
  /** Latest paid order of the item. It can be an order of the purchase that this one replaced. */
  orderId: v.string(),
  /** End of the item if it differs from the end of the subscription. */
  endsAt: v.exactOptional(v.number()),
  /** The customer removed the item: it ends at the end of its period. */
  isRemoved: v.exactOptional(v.literal(true)),
  /** The payment for this item was declined, and not the payment for all items. */
  isDeclined: v.exactOptional(v.literal(true)),
  /** Added during a period, and paid only for the rest of it. */
  isProrated: v.exactOptional(v.literal(true)),
  /** Product that replaces it at the next renewal. */
  replacedBy: v.exactOptional(v.string()),
  /** Period of the base plan of an item that replaces another one at the next renewal. It is not owned until then. */
  deferredPeriod: v.exactOptional(Period),
});
export type SubscriptionItem = Readonly<v.InferOutput<typeof SubscriptionItem>>;

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
  /** Renews when the clock passes the end of a period. */
  renewsAutomatically: v.boolean(),
  expiryTime: v.number(),
  anchor: BillingAnchor,
  /** Period of the base plan. Default: the period of the product. */
  period: v.exactOptional(Period),
  phase: Phase,
  offerId: v.exactOptional(v.string()),
  priceMicros: v.number(),
  currency: v.string(),
  /** A prepaid plan does not renew, and a top-up extends it. */
  isPrepaid: v.exactOptional(v.literal(true)),
  /** Committed payments of an installment plan: all, and those that are not made. */
  installments: v.exactOptional(v.object({ initial: v.number(), remaining: v.number() })),
  /** Time at which the customer canceled an installment plan that still has committed payments. */
  pendingCancellation: v.exactOptional(v.number()),
  /** Items of a subscription with add-ons, the base item first. */
  items: v.exactOptional(v.pipe(v.array(SubscriptionItem), v.readonly())),
  priceChange: v.exactOptional(PriceChange),
  cancellation: v.exactOptional(
    v.object({ by: v.picklist(['user', 'developer', 'system', 'replacement']), at: v.number() }),
  ),
  /** Ended because a renewal action is missing. */
  awaitsRenewal: v.exactOptional(v.boolean()),
  holdEnds: v.exactOptional(v.number()),
  /** Google retries a declined payment without a notification, and reports the subscription as active. */
  retriesUntil: v.exactOptional(v.number()),
  /** Paid time that account hold interrupted. The items whose payment was not declined get it back. */
  heldMs: v.exactOptional(v.number()),
  resumesAt: v.exactOptional(v.number()),
  /** Token of the expired subscription that the customer resumed in the Play Store app. */
  resubscribes: v.exactOptional(v.string()),
  /** The replaced purchase. A top-up replaces a purchase of the same prepaid plan. */
  replaces: v.exactOptional(
    v.object({
      token: v.string(),
      productId: v.string(),
      period: Period,
      isDeferred: v.exactOptional(v.literal(true)),
    }),
  ),
});
export type Subscription = Readonly<v.InferOutput<typeof Subscription>>;

/** Purchase. Its id is the purchase token. */
export const Purchase = v.object({
  id: v.string(),
  productId: v.string(),
  applicationUsername: v.exactOptional(v.string()),
  sandbox: v.boolean(),
  purchasedAt: v.number(),
  /** The first payment is pending or was abandoned. */
  isUnpaid: v.exactOptional(v.literal(true)),
  isAcknowledged: v.boolean(),
  /** The app on the device acknowledges the purchase when it is paid. */
  isAcknowledgedByApp: v.exactOptional(v.literal(true)),
  isConsumed: v.boolean(),
  /** Obfuscated account id that the developer has set for a resubscription. */
  externalAccountId: v.exactOptional(v.string()),
  /** A one-time purchase was canceled or refunded. */
  isCancelled: v.boolean(),
  quantity: v.number(),
  /** Percentage of the tax that is added to the prices. */
  taxRate: v.exactOptional(v.number()),
  /** Time that the customer has a rented product, from the payment on. */
  rentalPeriod: v.exactOptional(Period),
  /** Release of a pre-ordered product, at which the order is charged. */
  releaseAt: v.exactOptional(v.number()),
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
  /** Google voided the order because the purchase was not acknowledged. */
  isUnacknowledged: v.exactOptional(v.literal(true)),
  isChargeback: v.exactOptional(v.literal(true)),
  /** Refunded quantity of a partial refund. */
  quantity: v.exactOptional(v.number()),
});
export type VoidedOrder = Readonly<v.InferOutput<typeof VoidedOrder>>;
