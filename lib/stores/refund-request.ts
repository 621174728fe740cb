import * as v from 'valibot';
import { OptionalBoolean, OptionalText } from '../api/schemas.ts';
import { Platform } from '../foundation/platform.ts';

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

/** The store's decision about a refund. */
export const RefundOutcome = v.picklist(['refunded', 'declined', 'reversed']);
export type RefundOutcome = v.InferOutput<typeof RefundOutcome>;

/** The statement of an app about a refund. The contract describes it. */
export const refundStatement = {
  preference: RefundPreference,
  isProrated: OptionalBoolean,
  customerConsented: v.boolean(),
  deliveryStatus: v.exactOptional(DeliveryStatus),
  sampleContentProvided: v.boolean(),
  consumptionPercentage: v.exactOptional(ConsumptionPercentage),
};
export const RefundAnswer = v.object(refundStatement);
export type RefundAnswer = v.InferOutput<typeof RefundAnswer>;

/** A store's request for a statement about a refund. Times in epoch milliseconds, ids with a platform prefix. */
export const StoreRefundRequest = v.object({
  platform: Platform,
  purchaseId: v.string(),
  /** Payment to refund. */
  transactionId: v.string(),
  productId: OptionalText,
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

/** The store's decision about a payment. */
export interface StoreRefundOutcome {
  readonly transactionId: string;
  readonly outcome: RefundOutcome;
}
