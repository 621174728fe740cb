import * as v from 'valibot';
import { BillingAnchor } from '../billing-anchor.ts';

/** Store account of a customer. */
export const Account = v.object({
  id: v.string(),
  applicationUsername: v.exactOptional(v.string()),
  /** Number of times that Microsoft has revoked the StoreID keys of the customer. */
  keyRevocations: v.exactOptional(v.number()),
});
export type Account = Readonly<v.InferOutput<typeof Account>>;

/** Kind of an item, in the store's terms. */
export const ItemKind = v.picklist(['Durable', 'Consumable', 'UnmanagedConsumable']);
export type ItemKind = v.InferOutput<typeof ItemKind>;

/** Item in a customer's collection. */
export const Item = v.object({
  id: v.string(),
  kind: ItemKind,
  status: v.picklist(['Active', 'Expired', 'Revoked']),
  acquiredDate: v.number(),
  modifiedDate: v.number(),
  /** Absent if the item does not end. */
  endDate: v.exactOptional(v.number()),
  /** Remaining quantity. */
  quantity: v.number(),
  isTrial: v.boolean(),
});
export type Item = Readonly<v.InferOutput<typeof Item>>;

/** Subscription (recurrence in the store's terms). */
export const Recurrence = v.object({
  state: v.picklist(['Active', 'Inactive', 'Canceled', 'InDunning', 'Failed']),
  autoRenew: v.boolean(),
  /** Renews when the clock passes the end of a period. */
  renewsAutomatically: v.boolean(),
  isTrial: v.boolean(),
  startTime: v.number(),
  expirationTime: v.number(),
  expirationTimeWithGrace: v.number(),
  cancellationDate: v.exactOptional(v.number()),
  lastModified: v.number(),
  anchor: BillingAnchor,
});
export type Recurrence = Readonly<v.InferOutput<typeof Recurrence>>;

/**
 * Event of a payment in the clawback queue.
 *
 * @see https://learn.microsoft.com/en-us/gaming/gdk/docs/store/commerce/service-to-service/xstore-managing-refunds-and-chargebacks
 */
export const Clawback = v.object({
  source: v.picklist(['/Purchase/Refund', '/Purchase/Chargeback']),
  /** `Returned`: the product was removed. `Revoked`: it had been used before. `Refunded`: the customer keeps it. */
  state: v.picklist(['Returned', 'Revoked', 'Refunded', 'ChargebackReversal']),
  date: v.number(),
  /** Amount of a part of the payment: of the unused time of the period. Absent for the whole payment. */
  amountMicros: v.exactOptional(v.number()),
  /** What a chargeback took from the customer, as it was before. */
  removed: v.exactOptional(v.object({ item: Item, recurrence: v.exactOptional(Recurrence) })),
});
export type Clawback = Readonly<v.InferOutput<typeof Clawback>>;

/** Payment of the customer. */
export const Payment = v.object({
  orderId: v.string(),
  lineItemId: v.string(),
  purchasedDate: v.number(),
  /** Oldest first. */
  clawbacks: v.exactOptional(v.pipe(v.array(Clawback), v.readonly()), []),
  quantity: v.number(),
  /** Absent in a state of an earlier version. The APIs of the store do not return it. */
  amountMicros: v.exactOptional(v.number(), 0),
  /** Start of the paid period of a renewal. */
  periodStart: v.exactOptional(v.number()),
});
export type Payment = Readonly<v.InferOutput<typeof Payment>>;

/** Quantity of an order that a consumption used. */
export const ConsumedOrder = v.object({
  orderId: v.string(),
  orderLineItemId: v.string(),
  quantityConsumed: v.number(),
});
export type ConsumedOrder = Readonly<v.InferOutput<typeof ConsumedOrder>>;

/** Purchase. Its id is the recurrence id of a subscription, otherwise the item id. */
export const Purchase = v.object({
  id: v.string(),
  accountId: v.string(),
  productId: v.string(),
  country: v.exactOptional(v.string(), 'US'),
  /** `RETAIL` or a development sandbox. */
  sandboxId: v.string(),
  item: Item,
  recurrence: v.exactOptional(Recurrence),
  /** Oldest first. */
  payments: v.pipe(v.array(Payment), v.readonly()),
  /** Results of consume requests by tracking id. */
  consumed: v.record(
    v.string(),
    v.object({ newQuantity: v.number(), orders: v.exactOptional(v.pipe(v.array(ConsumedOrder), v.readonly()), []) }),
  ),
});
export type Purchase = Readonly<v.InferOutput<typeof Purchase>>;

/**
 * Message in the publisher's queue of clawback events. Deleted messages are kept, so that they are not created again.
 */
export const ClawbackMessage = v.object({
  messageId: v.string(),
  /** Identifies the event: line item id of the payment, and the number of a later event of it. */
  lineItemId: v.string(),
  /** Event as base64. */
  text: v.string(),
  insertedAt: v.number(),
  visibleAt: v.number(),
  dequeueCount: v.number(),
  /** Changes with each Get Messages call that returns the message. */
  popReceipt: v.exactOptional(v.string()),
  isDeleted: v.boolean(),
});
export type ClawbackMessage = Readonly<v.InferOutput<typeof ClawbackMessage>>;
