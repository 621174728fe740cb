import * as v from 'valibot';
import { Period } from '../calendar.ts';
import { ProductType } from '../purchase-order.ts';

/** Something for sale, under its Store ID. */
export const Product = v.object({
  id: v.string(),
  type: ProductType,
  priceMicros: v.number(),
  currency: v.string(),
  /** Between payments of a subscription; how long something that does not renew lasts. */
  period: v.exactOptional(Period),
});
export type Product = Readonly<v.InferOutput<typeof Product>>;

/** A customer's account with the store. */
export const Account = v.object({ id: v.string(), applicationUsername: v.exactOptional(v.string()) });
export type Account = Readonly<v.InferOutput<typeof Account>>;

/** The store's own words for what something is. */
export const ItemKind = v.picklist(['Durable', 'Consumable', 'UnmanagedConsumable']);
export type ItemKind = v.InferOutput<typeof ItemKind>;

/** An entry in a customer's collection. */
export const Item = v.object({
  id: v.string(),
  kind: ItemKind,
  status: v.picklist(['Active', 'Expired', 'Revoked']),
  acquiredDate: v.number(),
  modifiedDate: v.number(),
  /** Absent for what lasts for ever. */
  endDate: v.exactOptional(v.number()),
  /** What is left of it. */
  quantity: v.number(),
  isTrial: v.boolean(),
});
export type Item = Readonly<v.InferOutput<typeof Item>>;

/** A payment of the customer, as the clawback query tells of it. */
export const Payment = v.object({
  orderId: v.string(),
  lineItemId: v.string(),
  state: v.picklist(['Purchased', 'Refunded', 'Revoked']),
  purchasedDate: v.number(),
  refundedDate: v.exactOptional(v.number()),
  quantity: v.number(),
});
export type Payment = Readonly<v.InferOutput<typeof Payment>>;

/** A subscription, which the store calls a recurrence. */
export const Recurrence = v.object({
  state: v.picklist(['Active', 'Inactive', 'Canceled', 'InDunning', 'Failed']),
  autoRenew: v.boolean(),
  /** Whether it renews by itself when the clock passes the end of a period. */
  renewsAutomatically: v.boolean(),
  isTrial: v.boolean(),
  startTime: v.number(),
  expirationTime: v.number(),
  expirationTimeWithGrace: v.number(),
  cancellationDate: v.exactOptional(v.number()),
  lastModified: v.number(),
  /** The current period ends `periods` periods after `date`, so that a month of 31 days keeps its day. */
  anchor: v.object({ date: v.number(), period: Period, periods: v.number() }),
});
export type Recurrence = Readonly<v.InferOutput<typeof Recurrence>>;

/** What a customer owns; `id` is the recurrence's for a subscription and else the item's. */
export const Purchase = v.object({
  id: v.string(),
  accountId: v.string(),
  productId: v.string(),
  /** `RETAIL`, or the development sandbox that it lives in. */
  sandboxId: v.string(),
  item: Item,
  recurrence: v.exactOptional(Recurrence),
  /** Oldest first. */
  payments: v.pipe(v.array(Payment), v.readonly()),
  /** How each consume request ended, by its tracking id. */
  consumed: v.record(v.string(), v.object({ newQuantity: v.number() })),
});
export type Purchase = Readonly<v.InferOutput<typeof Purchase>>;

/** A message in the publisher's queue of clawback events; what was deleted is remembered, so that it is not told again. */
export const ClawbackMessage = v.object({
  messageId: v.string(),
  /** The payment that was paid back. */
  lineItemId: v.string(),
  /** The event in base64. */
  text: v.string(),
  insertedAt: v.number(),
  visibleAt: v.number(),
  dequeueCount: v.number(),
  /** Changes each time the message is taken. */
  popReceipt: v.exactOptional(v.string()),
  isDeleted: v.boolean(),
});
export type ClawbackMessage = Readonly<v.InferOutput<typeof ClawbackMessage>>;
