import * as v from 'valibot';

/** What the app prefers: that the store refunds the payment or declines the refund, or neither. */
export const RefundPreference = v.picklist(['approve', 'decline', 'neutral']);

/** @see https://developer.apple.com/documentation/appstoreserverapi/deliverystatus */
export const DeliveryStatus = v.picklist([
  'DELIVERED',
  'UNDELIVERED_QUALITY_ISSUE',
  'UNDELIVERED_WRONG_ITEM',
  'UNDELIVERED_SERVER_OUTAGE',
  'UNDELIVERED_OTHER',
]);

/** Thousandths of a percent. */
export const ConsumptionPercentage = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100_000));

/** Fields of the statement of an app about a refund. */
export const refundStatement = {
  preference: RefundPreference,
  /** store_a: whether an approved refund is limited to the unused part. */
  isProrated: v.exactOptional(v.boolean()),
  /** Whether the customer consented to the statement. */
  customerConsented: v.boolean(),
  /** store_a: whether the app delivered a product that works. */
  deliveryStatus: v.exactOptional(DeliveryStatus),
  /** Whether the customer had a free sample or a trial before the purchase. */
  sampleContentProvided: v.boolean(),
  consumptionPercentage: v.exactOptional(ConsumptionPercentage),
};

/** The store's decision about a refund. */
export const RefundOutcome = v.picklist(['refunded', 'declined', 'reversed']);
export type RefundOutcome = v.InferOutput<typeof RefundOutcome>;
