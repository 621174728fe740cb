import { withPlatform } from '../../foundation/platform.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import type { ItemTerms } from './item-terms.ts';
import { type MappingContext, toOfferId } from './mapping-context.ts';
import { omitNullish, toCurrencyCode, toMillis, toOptionalMillis } from './money.ts';
import type { Discount, Subscription } from './payloads.ts';
import type { BilledItem } from './subscription-items.ts';

interface IdentityContext {
  readonly subscription: Subscription;
  readonly terms: ItemTerms;
  readonly mapping: MappingContext;
  /** Epoch seconds. */
  readonly start: number | null;
}

/** Returns the fields that identify the purchase of an item. */
export function toIdentity({ purchaseId }: BilledItem, { subscription, terms, mapping, start }: IdentityContext) {
  const { platform } = mapping;
  return {
    purchaseId: withPlatform(platform, purchaseId),
    productId: withPlatform(platform, terms.productId),
    offerId: toOfferId(mapping, terms.productId, terms.priceId),
    platform,
    productType: 'paid subscription' as const,
    sandbox: !subscription.livemode,
    ...omitNullish({
      purchaseDate: toOptionalMillis(start),
      currency: terms.currency ? toCurrencyCode(terms.currency) : undefined,
      quantity: terms.quantity,
    }),
  };
}

/** Returns the flags of the state of an item. */
export function toState(
  { status }: Subscription,
  { item, isUnpaid }: { item: BilledItem; isUnpaid: boolean },
): Partial<Purchase> {
  return {
    isBillingRetryPeriod: status === 'past_due' && isUnpaid,
    isTrialPeriod: status === 'trialing' && item.current !== undefined,
    ...(status === 'incomplete' && { isPending: true }),
    ...(status === 'incomplete_expired' && { isAbandoned: true }),
  };
}

/** A cancelation after the current period is a later one: until then, the subscription renews. */
export function toRenewalIntent(
  subscription: Subscription,
  { current, removedAt }: BilledItem,
  { periodEnd }: ItemTerms,
): { [K in 'renewalIntent' | 'renewalIntentChangeDate']?: Purchase[K] | undefined } {
  const { status, cancel_at, cancel_at_period_end, canceled_at } = subscription;
  if (!current) return { renewalIntent: 'Lapse', renewalIntentChangeDate: toOptionalMillis(removedAt) };
  const isEnding = cancel_at_period_end || (cancel_at !== null && cancel_at <= periodEnd);
  const lapses = isEnding || status === 'canceled' || status === 'incomplete_expired';
  // Stripe does not report when a cancelation was reverted. `observe` takes that date from the event.
  return lapses
    ? { renewalIntent: 'Lapse', renewalIntentChangeDate: toOptionalMillis(canceled_at) }
    : { renewalIntent: 'Renew' };
}

/**
 * Returns the discount of an item, or else of its subscription, that runs at `now`, or ran before. Stripe applies the
 * discounts of the item first. Their coupons are ids: Stripe expands four levels.
 *
 * @see https://docs.stripe.com/api/subscription_items/object#subscription_item_object-discounts
 */
export function toDiscount({ discounts }: Subscription, { current }: BilledItem, now: EpochMillis) {
  const [discount] = [...(current?.discounts ?? []), ...discounts].filter(
    (value): value is Discount => typeof value !== 'string',
  );
  if (!discount) return {};
  const coupon = discount.source?.coupon ?? null;
  const isRunning = discount.end === null || toMillis(discount.end) > now;
  const isOfLimitedCoupon = coupon !== null && typeof coupon !== 'string' && coupon.duration !== 'forever';
  const isLimited = discount.end !== null || isOfLimitedCoupon;
  return {
    discountId: discount.promotion_code ?? (typeof coupon === 'string' ? coupon : coupon?.id),
    isIntroPeriod: (isLimited && isRunning) || undefined,
  };
}
