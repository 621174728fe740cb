import * as v from 'valibot';
import { OptionalNumber, OptionalText, OptionalTrue } from '../api/schemas.ts';
import type { EpochMillis } from '../foundation/time.ts';

/** The paid period before another one of the same subscription. A member is absent if it is the same in both. */
const PreviousPeriod = v.object({
  end: v.number(),
  /** Monthly amounts at its end: see `PaymentAmounts`. */
  monthly: v.exactOptional(v.tuple([v.number(), v.number(), v.number(), v.number()])),
  /** The same in the currency of the payment. */
  local: v.exactOptional(v.tuple([v.number(), v.number(), v.number(), v.number()])),
  currency: OptionalText,
  productId: OptionalText,
  country: OptionalText,
  isInvoluntary: OptionalTrue,
  /** Its currency lacks a rate. */
  isUnconverted: OptionalTrue,
});
export type PreviousPeriod = v.InferOutput<typeof PreviousPeriod>;

/**
 * Facts about a payment that the figures need and that only the whole purchase shows. Stored with the transaction, so
 * that each transaction item determines its own contribution to the counters.
 */
export const PaymentFigures = v.object({
  /** Part of the price that the developer receives, in hundredths of a percent, by the rates of commission. */
  share: v.number(),
  /**
   * Counted by product and country, and its exchange rate separately. Absent if an earlier release recorded the
   * payment, until the next change of the purchase.
   */
  isByCell: OptionalTrue,
  /** Part of the price that is tax by the rates, in hundredths of a percent. Absent without one. */
  taxShare: OptionalNumber,
  /** End of the paid time. Only set for a paid period of an auto-renewing subscription. */
  end: OptionalNumber,
  /**
   * Day that counts the end, if another purchase replaced this one before it: the end that was counted until then. The
   * first period of the other purchase takes it back there, so it must not move. Absent if it is `end`.
   */
  countedEnd: OptionalNumber,
  /** The store ended the subscription because a payment failed. */
  isInvoluntary: OptionalTrue,
  /** An additional payment for the rest of a period, such as that of added seats or of a plan change. */
  isFurther: OptionalTrue,
  previous: v.exactOptional(PreviousPeriod),
  /** Start, product and country of the first paid period. Absent if they are the same as here. */
  firstPaidAt: OptionalNumber,
  firstProductId: OptionalText,
  firstCountry: OptionalText,
  /** Set for the first trial of a subscription, and for the paid period that converts it: start of the trial. */
  trialAt: OptionalNumber,
  /** When the customer was first seen, or paid first if that is earlier. */
  customerSince: OptionalNumber,
  /** Set for the first payment of the customer: when the customer was stored. */
  payerCreatedAt: OptionalNumber,
});
export type PaymentFigures = v.InferOutput<typeof PaymentFigures>;

/** The customer who pays for a purchase. */
export interface Payer {
  /** When the customer was first seen, or paid first if that is earlier. */
  readonly since: EpochMillis;
  readonly createdAt: EpochMillis;
  /** The purchase that the customer paid first. */
  readonly firstPurchaseId: string;
}
