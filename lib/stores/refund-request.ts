import * as v from 'valibot';
import { Platform } from '../shared/platform.ts';

/** What the app prefers: that the store refunds the payment or declines the refund, or neither. */
const RefundPreference = v.picklist(['approve', 'decline', 'neutral']);

/** @see https://developer.apple.com/documentation/appstoreserverapi/deliverystatus */
const deliveryStatuses = [
  'DELIVERED',
  'UNDELIVERED_QUALITY_ISSUE',
  'UNDELIVERED_WRONG_ITEM',
  'UNDELIVERED_SERVER_OUTAGE',
  'UNDELIVERED_OTHER',
] as const;

/** Thousandths of a percent. */
const ConsumptionPercentage = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100_000));

/** The statement of the app about a refund. */
export const RefundAnswer = v.object({
  preference: RefundPreference,
  /** store_a: whether an approved refund is limited to the unused part. */
  isProrated: v.exactOptional(v.boolean()),
  /** Whether the customer consented to the statement. */
  customerConsented: v.boolean(),
  /** store_a: whether the app delivered a product that works. */
  deliveryStatus: v.exactOptional(v.picklist(deliveryStatuses)),
  /** Whether the customer had a free sample or a trial before the purchase. */
  sampleContentProvided: v.boolean(),
  consumptionPercentage: v.exactOptional(ConsumptionPercentage),
});
export type RefundAnswer = v.InferOutput<typeof RefundAnswer>;

/** A store's request for a statement about a refund. Times in epoch milliseconds, ids with a platform prefix. */
export const StoreRefundRequest = v.object({
  platform: Platform,
  purchaseId: v.string(),
  /** Payment to refund. */
  transactionId: v.string(),
  productId: v.exactOptional(v.string()),
  sandbox: v.boolean(),
  /** Reason in the store's terms. */
  reason: v.string(),
  requestedAt: v.number(),
  /** Time until which the store accepts the statement. */
  deadline: v.number(),
  /** Input of `answerRefundRequest` of the same adapter. */
  reference: v.record(v.string(), v.string()),
});
export type StoreRefundRequest = v.InferOutput<typeof StoreRefundRequest>;

export const refundOutcomes = ['refunded', 'declined', 'reversed'] as const;

/** The store's decision about a payment. */
export interface StoreRefundOutcome {
  readonly transactionId: string;
  readonly outcome: (typeof refundOutcomes)[number];
}
