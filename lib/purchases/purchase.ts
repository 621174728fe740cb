import * as v from 'valibot';
import {
  CancelationReason,
  OptionalBoolean,
  OptionalNumber,
  OptionalText,
  OptionalTrue,
  PriceConsentStatus,
  ProductType,
  RenewalIntent,
} from '../api/schemas.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import { Platform } from '../foundation/platform.ts';
import { dayMs, type EpochMillis } from '../foundation/time.ts';
import { IsoDay, UsdRate } from '../money/rates.ts';
import { listUnreversed } from './refunds.ts';
import { ServiceConsumption } from './service-consumption.ts';
import type { Transaction } from './transaction.ts';

/** What a verified store notification proves while the store cannot be queried. */
export const RenewalNotice = v.object({
  /** Time of the notification on the store's clock, in epoch milliseconds. */
  date: v.number(),
  /** The subscription has ended. Otherwise, it has renewed. */
  isEnd: OptionalTrue,
});
export type RenewalNotice = v.InferOutput<typeof RenewalNotice>;

/** Chooses the later announcement. An end takes precedence over a renewal at the same time. */
export function chooseLaterNotice(a?: RenewalNotice, b?: RenewalNotice): RenewalNotice | undefined {
  if (!a || !b) return a ?? b;
  return (a.date - b.date || Number(a.isEnd ?? false) - Number(b.isEnd ?? false)) >= 0 ? a : b;
}

/**
 * A purchase after its latest transaction. Dates are epoch milliseconds, ids have a platform prefix (`store_a:…`),
 * amounts are micros of `currency`. A field is undefined if the store does not report it.
 */
export const Purchase = v.object({
  purchaseId: v.string(),
  /** The latest transaction. */
  transactionId: v.string(),
  productId: v.string(),
  platform: Platform,
  productType: v.exactOptional(ProductType),
  offerId: OptionalText,
  /** The product of the next renewal if it differs. Internal: its change is announced as a plan change. */
  renewalProductId: OptionalText,
  sandbox: v.boolean(),
  purchaseDate: OptionalNumber,
  lastRenewalDate: OptionalNumber,
  /** Expiration or renewal date of a subscription. In a grace period: the end of the grace period. */
  expirationDate: OptionalNumber,
  /**
   * Source of `expirationDate` if the store does not report it: the app's catalogue, the request of a client, or an
   * assumption. Internal.
   */
  expirationSource: v.exactOptional(v.picklist(['catalogue', 'client', 'assumed'])),
  /**
   * End of access if the store does not report the state after the expiration date: see `setUnverifiedEnd`. Internal.
   */
  unverifiedUntil: OptionalNumber,
  /**
   * The latest verified store notification of a renewal or an end that no observation has confirmed, because the store
   * is unavailable. Internal.
   */
  renewalNotice: v.exactOptional(RenewalNotice),
  /** The store can be queried again only with new credentials of the client. Internal. */
  awaitsCredentials: OptionalTrue,
  /** When the store ended the purchase by refund, revocation or replacement. Takes precedence over the other dates. */
  endedAt: OptionalNumber,
  renewalIntent: v.exactOptional(RenewalIntent),
  /** The store continues to charge committed payments after the customer chose `Lapse`. Internal. */
  isCommitted: OptionalBoolean,
  /** When the customer chose the current renewal intent. */
  renewalIntentChangeDate: OptionalNumber,
  /** The latest known choice of each renewal intent. Internal. */
  renewalIntentDates: v.exactOptional(v.object({ Lapse: OptionalNumber, Renew: OptionalNumber })),
  cancelationReason: v.exactOptional(CancelationReason),
  /** The renewal intent that the store reports of a purchase that a clawback event has ended. Internal. */
  beforeClawback: v.exactOptional(v.object({ renewalIntent: v.exactOptional(RenewalIntent) })),
  isPending: OptionalBoolean,
  /** The first payment was canceled or failed for good, so that the purchase never gave access. Internal. */
  isAbandoned: OptionalBoolean,
  isAcknowledged: OptionalBoolean,
  isConsumed: OptionalBoolean,
  /** This service must acknowledge the purchase before the store refunds it. It is refreshed until then. Internal. */
  awaitsFulfillment: OptionalBoolean,
  /** The consumption that this service performs for a validation. Internal. */
  serviceConsumption: v.exactOptional(ServiceConsumption),
  isBillingRetryPeriod: OptionalBoolean,
  isTrialPeriod: OptionalBoolean,
  isIntroPeriod: OptionalBoolean,
  priceConsentStatus: v.exactOptional(PriceConsentStatus),
  discountId: OptionalText,
  quantity: OptionalNumber,
  currency: OptionalText,
  amountMicros: OptionalNumber,
  /** USD conversion of the latest transaction. */
  usdRate: v.exactOptional(UsdRate),
  usdRateDate: v.exactOptional(IsoDay),
  isSharedPurchase: OptionalBoolean,
  /** Apple's id of the store account in the app, without prefix. The same for all its purchases. Internal. */
  appTransactionId: OptionalText,
  isPaused: OptionalBoolean,
  autoResumeDate: OptionalNumber,
});
export type Purchase = v.InferOutput<typeof Purchase>;

/** The first payment is pending or was abandoned: the purchase does not have an owner and has not earned money. */
export const isUnpaid = ({ isPending, isAbandoned }: Purchase): boolean => isPending === true || isAbandoned === true;

/** The purchase has ended or expired at `now`, is paused or is not paid. */
export const isExpired = (purchase: Purchase, now: EpochMillis): boolean =>
  isUnpaid(purchase) || purchase.isPaused === true || getAccessEnd(purchase) <= now;

/**
 * The expiration date has passed and the store has not reported the state after it. The subscription can have renewed,
 * and gives access until `unverifiedUntil`.
 */
export const isUnverified = ({ expirationDate, unverifiedUntil }: Purchase, now: EpochMillis): boolean =>
  unverifiedUntil !== undefined && expirationDate !== undefined && expirationDate <= now;

/** The maximum date of ECMAScript, for access without end. */
export const noEnd: EpochMillis = 8_640_000_000_000_000;

/** Returns the end of access according to the dates. Ignores pauses, pending payments and consumption. */
export const getAccessEnd = ({ expirationDate, unverifiedUntil, endedAt = noEnd }: Purchase): EpochMillis =>
  Math.min(endedAt, unverifiedUntil ?? expirationDate ?? noEnd);

/** Returns the end that the store has reported. Access can last longer: see `isUnverified`. */
export const getReportedEnd = ({ expirationDate = noEnd, endedAt = noEnd }: Purchase): EpochMillis =>
  Math.min(endedAt, expirationDate);

/** A purchase of unknown type with an expiration date counts as a subscription. */
export const isSubscription = (purchase: Purchase): boolean =>
  purchase.productType === 'paid subscription' ||
  purchase.productType === 'non renewing subscription' ||
  (purchase.productType === undefined && purchase.expirationDate !== undefined);

/** The store does not say by whom the purchase was ended. */
export const hasUnspecificReason = ({ cancelationReason }: Purchase): boolean =>
  cancelationReason === 'System' || cancelationReason === 'Unknown';

/** Sets why the latest transaction was voided if the store reports no specific reason of the end. */
export const withVoidReason = (purchase: Purchase, latest: Transaction | undefined): Purchase =>
  latest?.voidReason && hasUnspecificReason(purchase)
    ? { ...purchase, cancelationReason: latest.voidReason }
    : purchase;

/**
 * Ends a purchase whose latest payment was clawed back before the store does: it updates the state of a subscription
 * within a day, and never for a consumed item.
 */
export function withClawbackEnd(purchase: Purchase, latest: Transaction | undefined, asOf: EpochMillis): Purchase {
  const { isConsumed, renewalIntent } = purchase;
  const end = listUnreversed(latest?.clawbacks).findLast(({ endsAccess }) => endsAccess || isConsumed)?.date;
  return !end || purchase.endedAt || purchase.cancelationReason || (!isConsumed && asOf - end > dayMs)
    ? purchase
    : {
        ...purchase,
        endedAt: end,
        cancelationReason: 'Customer',
        beforeClawback: omitUndefined({ renewalIntent }),
        ...(renewalIntent && { renewalIntent: 'Lapse' }),
      };
}

/** Returns the purchase as the store reports it. */
export function withoutClawbackEnd(purchase: Purchase): Purchase {
  const { beforeClawback, endedAt, cancelationReason, ...reported } = purchase;
  return beforeClawback ? { ...reported, ...beforeClawback } : purchase;
}

/** The product, base plan or offer differs from the replaced purchase. An unreported offer does not count. */
export const hasOtherPlan = (replaced: Purchase, { productId, offerId = replaced.offerId }: Purchase): boolean =>
  productId !== replaced.productId || offerId !== (replaced.offerId ?? offerId);

/** The purchase is paid, not expired and not consumed at `now`. */
export const isActive = (purchase: Purchase, now: EpochMillis): boolean =>
  !isExpired(purchase, now) && purchase.isConsumed !== true;
