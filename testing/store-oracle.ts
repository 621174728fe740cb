import type { Platform } from '../lib/foundation/platform.ts';
import { dayMs } from '../lib/foundation/time.ts';
import type { PurchaseSummary } from './purchase-summary.ts';
import { isStripeItemRunning } from './stripe-oracle.ts';

/**
 * The store calls the purchase paid and running at `now`. Derived from the documents of the stores, not from the
 * adapters. Undefined if the store leaves the decision to the developer, or takes some time to decide.
 */
export function isPaidAndRunning(platform: Platform, purchase: PurchaseSummary, now: number): boolean | undefined {
  const isSubscription = purchase.type === 'paid subscription';
  const oracle = isSubscription ? subscriptionOracles[platform] : oneTimeOracles[platform];
  return oracle(purchase, now);
}

/**
 * Returns for each product of the purchase whether it is paid and running, as `isPaidAndRunning` does. The items of a
 * subscription of Google Play or Stripe have their own ends.
 */
export function listRunningProducts(
  platform: Platform,
  purchase: PurchaseSummary,
  now: number,
): ReadonlyMap<string, boolean | undefined> {
  const hasItems = platform !== 'store_a' && purchase.type === 'paid subscription';
  const lines: readonly PurchaseSummary[] = (hasItems && purchase.lines) || [{ productId: purchase.productId }];
  const isAnyAhead = lines.some((line) => isAfter(getLineEnd(line), now));
  return new Map(
    lines.map(({ productId, ...line }) => {
      const end = getLineEnd(line);
      const isRunning = isPaidAndRunning(platform, { ...purchase, ...(end === undefined ? {} : line) }, now);
      return [productId, isRunning === undefined && isAnyAhead && !isAfter(end, now) ? false : isRunning];
    }),
  );
}

const getLineEnd = ({ expiryTime, currentPeriodEnd }: PurchaseSummary): unknown => expiryTime ?? currentPeriodEnd;

/**
 * The customer has canceled and is charged for the next period of the commitment.
 * @see https://developer.apple.com/documentation/storekit/supporting-monthly-subscriptions-with-a-12-month-commitment
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2#InstallmentPlan
 */
export const hasCommittedPayments = ({ state, commitment, installments }: PurchaseSummary): boolean =>
  state === 'ACTIVE' &&
  (commitment?.renews === false || (installments?.renews === false && installments.remaining > 0));

type Oracle = (purchase: PurchaseSummary, now: number) => boolean | undefined;

const isAfter = (date: unknown, now: number): boolean => Date.parse(String(date)) > now;

const subscriptionOracles: Readonly<Record<Platform, Oracle>> = {
  /** @see https://developer.apple.com/documentation/appstoreserverapi/status */
  store_a: ({ state, expiresDate, gracePeriodExpiresDate }, now) => {
    if (state === 'ACTIVE') return isAfter(expiresDate, now) || undefined;
    return state === 'BILLING_GRACE_PERIOD' && isAfter(gracePeriodExpiresDate, now);
  },
  /** @see https://developer.android.com/google/play/billing/lifecycle/subscriptions */
  store_b: ({ state, expiryTime }, now) => {
    if (state === 'CANCELED') return isAfter(expiryTime, now);
    return ['ACTIVE', 'IN_GRACE_PERIOD'].includes(state) ? isAfter(expiryTime, now) || undefined : false;
  },
  /** @see https://learn.microsoft.com/en-us/windows/uwp/monetize/get-subscriptions-for-a-user */
  store_c: ({ state, expirationTime, expirationTimeWithGrace }, now) => {
    if (state === 'Active') return isAfter(expirationTime, now) || (isAfter(expirationTimeWithGrace, now) && undefined);
    return state === 'InDunning' && isAfter(expirationTimeWithGrace, now);
  },
  processor_a: isStripeItemRunning,
  service_processor_a: isStripeItemRunning,
  /** @see https://developer.paypal.com/braintree/docs/guides/recurring-billing/overview */
  processor_b: ({ state, paidThroughDate, firstBillingDate, trialPeriod }, now) => {
    if (state === 'Past Due') return undefined;
    if (state !== 'Active' && state !== 'Canceled') return false;
    // An abandoned first payment.
    if (paidThroughDate === null && !trialPeriod) return false;
    // The dates lack a zone, and a renewal is billed at some hour of its day.
    const paidThrough = Date.parse(String(paidThroughDate ?? firstBillingDate));
    if (paidThrough > now + dayMs) return true;
    return paidThrough > now - 3 * dayMs ? undefined : false;
  },
};

const oneTimeOracles: Readonly<Record<Platform, Oracle>> = {
  store_a: ({ state }) => state === 'PURCHASED',
  store_b: ({ state, rentalEnd }, now) => state === 'PURCHASED' && (rentalEnd === undefined || isAfter(rentalEnd, now)),
  store_c: ({ state }) => state === 'Active',
  processor_a: ({ state }) => state === 'paid',
  service_processor_a: ({ state }) => state === 'paid',
  processor_b: ({ state }) => ['submitted_for_settlement', 'settling', 'settled', 'authorized'].includes(state),
};
