import * as v from 'valibot';
import { IsoDay, UsdRate } from '../money/usd-rate.ts';
import { Platform } from '../shared/platform.ts';

/**
 * An operation that started or renewed a purchase, and was paid (a free trial is a transaction of amount 0). Dates are
 * epoch milliseconds, ids carry their platform, money is in micros of `currency`.
 */
export const Transaction = v.object({
  transactionId: v.string(),
  purchaseId: v.string(),
  productId: v.string(),
  offerId: v.exactOptional(v.string()),
  platform: Platform,
  sandbox: v.boolean(),
  purchaseDate: v.number(),
  expirationDate: v.exactOptional(v.number()),
  isPending: v.exactOptional(v.boolean()),
  isTrialPeriod: v.exactOptional(v.boolean()),
  isIntroPeriod: v.exactOptional(v.boolean()),
  quantity: v.exactOptional(v.number()),
  currency: v.exactOptional(v.string()),
  /** The total that was paid for the quantity. */
  amountMicros: v.exactOptional(v.number()),
  /** What the amount is converted with; set when the transaction is written, by its currency and purchase date. */
  usdRate: v.exactOptional(UsdRate),
  usdRateDate: v.exactOptional(IsoDay),
  /** True when the amount is the client's word (`priceMicros` of the request) and not the store's. */
  isReportedAmount: v.exactOptional(v.boolean()),
  /** When the store gave the money back. */
  refundedAt: v.exactOptional(v.number()),
});
export type Transaction = v.InferOutput<typeof Transaction>;
