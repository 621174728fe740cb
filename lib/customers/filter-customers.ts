import type { Platform } from '../foundation/platform.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { matchesProduct } from '../purchases/matches-product.ts';
import type { SubscriberState } from './contract.ts';
import type { CustomerSummary } from './customer-summary.ts';

/** The members of a stored summary that a list can be filtered by. */
export interface CustomerFilter {
  readonly state?: SubscriberState | undefined;
  /** Store, product and sandbox of the last purchase. */
  readonly platform?: Platform | undefined;
  readonly productId?: string | undefined;
  readonly isSandbox?: boolean | undefined;
}

/** A customer without a purchase is not a sandbox customer. */
export function matchesCustomer(
  summary: CustomerSummary,
  { state, platform, productId, isSandbox }: CustomerFilter,
  now: EpochMillis,
): boolean {
  const { lastPurchase } = summary;
  return (
    (state === undefined || hasState(summary, state, now)) &&
    (platform === undefined || lastPurchase?.platform === platform) &&
    (productId === undefined || (lastPurchase !== undefined && matchesProduct(lastPurchase.productId, productId))) &&
    (isSandbox === undefined || (lastPurchase?.sandbox ?? false) === isSandbox)
  );
}

function hasState(
  { lastPurchase, subscribedUntil = 0, hasEverSubscribed }: CustomerSummary,
  state: SubscriberState,
  now: EpochMillis,
): boolean {
  const isActive = subscribedUntil > now;
  switch (state) {
    case 'active':
      return isActive;
    case 'trial':
      return isActive && lastPurchase?.isTrialPeriod === true;
    case 'grace':
      return isActive && lastPurchase?.isBillingRetryPeriod === true;
    case 'lapsed':
      return hasEverSubscribed && !isActive;
    case 'none':
      return !hasEverSubscribed;
  }
}
