import * as v from 'valibot';
import { CancelationReason, PriceConsentStatus, ProductType, RenewalIntent } from '../api/enumerations.ts';
import { IsoDay, UsdRate } from '../money/usd-rate.ts';
import { Platform } from '../shared/platform.ts';
import type { EpochMillis } from '../shared/time.ts';

/**
 * What is known of a purchase: the final state of its transactions. All dates are epoch milliseconds, all ids carry
 * their platform (`store_a:…`), money is in micros of `currency`. A field is absent when the store does not say.
 */
export const Purchase = v.object({
  purchaseId: v.string(),
  /** The latest transaction. */
  transactionId: v.string(),
  productId: v.string(),
  platform: Platform,
  productType: v.exactOptional(ProductType),
  offerId: v.exactOptional(v.string()),
  /** The product of the next renewal, where it is another one. Never shown: a change of it is a change of plan. */
  renewalProductId: v.exactOptional(v.string()),
  sandbox: v.boolean(),
  purchaseDate: v.exactOptional(v.number()),
  lastRenewalDate: v.exactOptional(v.number()),
  /** When a subscription expires or renews; in a grace period, the end of it. */
  expirationDate: v.exactOptional(v.number()),
  /** When the store took the purchase away (refund, revocation, replacement), whatever the other dates say. */
  endedAt: v.exactOptional(v.number()),
  renewalIntent: v.exactOptional(RenewalIntent),
  renewalIntentChangeDate: v.exactOptional(v.number()),
  cancelationReason: v.exactOptional(CancelationReason),
  isPending: v.exactOptional(v.boolean()),
  /** Whether its first payment was given up: there has never been access. Never shown. */
  isAbandoned: v.exactOptional(v.boolean()),
  isAcknowledged: v.exactOptional(v.boolean()),
  isConsumed: v.exactOptional(v.boolean()),
  isBillingRetryPeriod: v.exactOptional(v.boolean()),
  isTrialPeriod: v.exactOptional(v.boolean()),
  isIntroPeriod: v.exactOptional(v.boolean()),
  priceConsentStatus: v.exactOptional(PriceConsentStatus),
  discountId: v.exactOptional(v.string()),
  quantity: v.exactOptional(v.number()),
  currency: v.exactOptional(v.string()),
  amountMicros: v.exactOptional(v.number()),
  /** What the amount of the latest transaction is converted with. */
  usdRate: v.exactOptional(UsdRate),
  usdRateDate: v.exactOptional(IsoDay),
  isSharedPurchase: v.exactOptional(v.boolean()),
  isPaused: v.exactOptional(v.boolean()),
  autoResumeDate: v.exactOptional(v.number()),
});
export type Purchase = v.InferOutput<typeof Purchase>;

/** Whether the purchase gives nothing any more at `now`: its date has passed or the store took it away. */
export const isExpired = (purchase: Purchase, now: EpochMillis): boolean =>
  (purchase.endedAt !== undefined && purchase.endedAt <= now) ||
  (purchase.expirationDate !== undefined && purchase.expirationDate <= now) ||
  purchase.isPaused === true;

/** The last moment that a date can name, for what gives access until it is taken away. */
const noEnd: EpochMillis = 8_640_000_000_000_000;

/** Until when the dates let the purchase give access, whatever else keeps it from that. */
export const getAccessEnd = ({ expirationDate = noEnd, endedAt = noEnd }: Purchase): EpochMillis =>
  Math.min(endedAt, expirationDate);

/** Subscriptions are what `isExpired` is told of; other purchases only when they were taken away. */
export const isSubscription = (purchase: Purchase): boolean =>
  purchase.productType === 'paid subscription' ||
  purchase.productType === 'non renewing subscription' ||
  (purchase.productType === undefined && purchase.expirationDate !== undefined);

/** Whether the purchase gives access at `now`: paid, not pending, not consumed, not expired. */
export const isActive = (purchase: Purchase, now: EpochMillis): boolean =>
  !isExpired(purchase, now) && purchase.isPending !== true && purchase.isConsumed !== true;
