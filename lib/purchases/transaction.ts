import * as v from 'valibot';
import { CancelationReason, OptionalBoolean, OptionalNumber, OptionalText, OptionalTrue } from '../api/schemas.ts';
import { BillingPeriod } from '../foundation/billing-period.ts';
import { Platform, platformTokens } from '../foundation/platform.ts';
import { dayMs } from '../foundation/time.ts';
import { IsoDay, UsdRate } from '../money/rates.ts';

/**
 * A refund of a part of a payment. The refund that completes a full refund is `refundedAt` of the transaction, and is
 * not listed here.
 */
export const PartialRefund = v.object({
  /** The store's id of the refund, or a key that every observation of the refund derives alike. */
  id: v.string(),
  /** When the store refunded the part, in epoch milliseconds. */
  date: v.number(),
  /** Micros of the transaction's currency. */
  amountMicros: OptionalNumber,
  /** Number of refunded units. */
  quantity: OptionalNumber,
  /** The store reports the units or amounts of refunds as one sum. A larger sum is another refund. */
  isSum: OptionalTrue,
  /**
   * - `disputed`: an open dispute has withdrawn the amount. Counts as refunded, but is not announced.
   * - `returned`: the amount came back, because the dispute was won or the refund failed. Final.
   *
   * Absent for a final refund.
   */
  status: v.exactOptional(v.picklist(['disputed', 'returned'])),
  /** Latest date of the refunds, if the store reports all refunds of the payment as one sum, which it can reverse. */
  latestDate: OptionalNumber,
  /** When the store reversed the sum. It counts again if `latestDate` is later, and in part if it is the same. */
  reversedAt: OptionalNumber,
});
export type PartialRefund = v.InferOutput<typeof PartialRefund>;

/** An event that took the payment back, or returned it. Queries of the purchase do not show it. */
export const Clawback = v.object({
  date: v.number(),
  /** Returns the latest chargeback of the whole payment. */
  isReversal: OptionalTrue,
  /** Absent in events of an earlier build: a chargeback always ends access. */
  isChargeback: OptionalBoolean,
  isPartial: OptionalTrue,
  /** The customer loses the product, even if it was not consumed. */
  endsAccess: OptionalTrue,
});
export type Clawback = v.InferOutput<typeof Clawback>;

/**
 * The recurring price of a subscription: what a whole billing period costs from this payment on. A prorated payment, a
 * credit or a one-time amount on the same invoice makes the paid amount another one. MRR follows from the plan.
 */
export const PlanPrice = v.object({
  /** For the quantity, with the recurring discounts and tax, in micros of the transaction's currency. */
  amountMicros: v.number(),
  /** Tax within `amountMicros`, if the store reports it. */
  taxMicros: OptionalNumber,
  period: BillingPeriod,
});
export type PlanPrice = v.InferOutput<typeof PlanPrice>;

/** Units by credit, for one unit of the quantity, and when they end: see `CreditEnd`. */
const PaidCredits = v.record(v.string(), v.object({ perUnit: v.number(), expires: v.string() }));

/**
 * A payment that started or renewed a purchase; the amount of a free trial is 0. Dates are epoch milliseconds, ids have
 * a platform prefix, amounts are micros of `currency`.
 */
export const Transaction = v.object({
  transactionId: v.string(),
  /**
   * Id of the sale, if the store can list it under several transaction ids. The id of the purchase for a purchase that
   * is one sale. Internal.
   */
  saleId: OptionalText,
  purchaseId: v.string(),
  productId: v.string(),
  offerId: OptionalText,
  platform: Platform,
  sandbox: v.boolean(),
  purchaseDate: v.number(),
  /** Start of the paid period if the payment was made more than an hour earlier or later. Internal. */
  periodStartDate: OptionalNumber,
  expirationDate: OptionalNumber,
  /** Derived from the dates if the store does not report it. Internal. */
  isRenewal: OptionalBoolean,
  isPending: OptionalBoolean,
  isTrialPeriod: OptionalBoolean,
  isIntroPeriod: OptionalBoolean,
  /** Another product of the subscription replaced it before its end. Internal. */
  isReplaced: OptionalBoolean,
  /** Latest end of the period that the store has reported, if `expirationDate` is earlier. Internal. */
  plannedExpirationDate: OptionalNumber,
  quantity: OptionalNumber,
  currency: OptionalText,
  /** Country of the store in which it was bought, in the format of the store: `USA` at store_a. Internal. */
  storefront: OptionalText,
  /** Kind of the offer in the store's terms, such as `1` for an introductory offer of store_a. Internal. */
  offerType: OptionalText,
  /** Length of one period of the offer, such as `P1M`. Internal. */
  offerPeriod: OptionalText,
  /** Total amount for the quantity. */
  amountMicros: OptionalNumber,
  /** USD conversion by currency and purchase date, set when the transaction is recorded. */
  usdRate: v.exactOptional(UsdRate),
  usdRateDate: v.exactOptional(IsoDay),
  /** The amount comes from the client (`priceMicros` of the request) and not from the store. */
  isReportedAmount: OptionalBoolean,
  /** The amount is taken from an earlier payment, because it is unknown. It is a reported amount, too. Internal. */
  isEstimatedAmount: OptionalBoolean,
  /** Tax within `amountMicros`, if the store reports it. */
  taxMicros: OptionalNumber,
  /** What a paid period of the plan costs, if the payment is another amount or for another time. Internal. */
  plan: v.exactOptional(PlanPrice),
  /** The developer's part of the payment after fees, tax and refunds, if the store reports it. Internal. */
  storeProceedsMicros: OptionalNumber,
  /** What the payment gives, by the catalogue when it was first recorded. Later changes of the catalogue keep it. */
  credits: v.exactOptional(PaidCredits),
  /** Refunds of parts of the payment, each once. Absent without any. */
  partialRefunds: v.exactOptional(v.pipe(v.array(PartialRefund), v.readonly())),
  /** When the store refunded the whole payment, or the rest of it after partial refunds. */
  refundedAt: OptionalNumber,
  /** When a full refund was first seen that the store does not date. Internal. */
  refundSeenAt: OptionalNumber,
  /** Events by id, at a store that reports refunds only by them: `refundedAt` follows from them. Internal. */
  clawbacks: v.exactOptional(v.record(v.string(), Clawback)),
  /** Why the store voided the payment. Queries of the purchase do not show it. Internal. */
  voidReason: v.exactOptional(CancelationReason),
});
export type Transaction = v.InferOutput<typeof Transaction>;

/** The amount is a fee. The period itself is free, as its plan shows. */
export const isTrialWithFee = ({ isTrialPeriod, plan, amountMicros = 0 }: Transaction): boolean =>
  isTrialPeriod === true && plan?.amountMicros === 0 && amountMicros > 0;

/** Braintree bills at an unknown hour of the day after a period. A subscription that renews is active until then. */
export const getRenewalDelayMs = (renewal: Transaction | undefined): number =>
  renewal?.platform === platformTokens.braintree ? dayMs : 0;
