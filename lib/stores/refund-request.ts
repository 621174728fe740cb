import * as v from 'valibot';
import { type RefundOutcome, refundStatement } from '../api/refund-statement.ts';
import { Platform } from '../shared/platform.ts';

/** The statement of the app about a refund. */
export const RefundAnswer = v.object(refundStatement);
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

/** The store's decision about a payment. */
export interface StoreRefundOutcome {
  readonly transactionId: string;
  readonly outcome: RefundOutcome;
}
