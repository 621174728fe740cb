import type { EpochMillis } from '../foundation/time.ts';
import type { Purchase } from '../purchases/purchase.ts';
import { toPurchaseRecord } from '../purchases/to-records.ts';
import type { CustomerInfo } from './contract.ts';
import { buildCustomerSummary, type CustomerSummary } from './customer-summary.ts';

/** Returns the customer info of a stored summary, with the subscriber flags at `now`. */
export function toCustomerInfo(
  { lastPurchase, subscribedUntil = 0, hasEverSubscribed }: CustomerSummary,
  now: EpochMillis,
): CustomerInfo {
  const activeSubscriber = subscribedUntil > now;
  return {
    ...toLastPurchaseInfo(lastPurchase, now),
    activeSubscriber,
    lapsedSubscriber: hasEverSubscribed && !activeSubscriber,
  };
}

/** Returns the customer info of a customer's purchases, with the subscriber flags at `now`. */
export const buildCustomerInfo = (purchases: readonly Purchase[], now: EpochMillis): CustomerInfo =>
  toCustomerInfo(buildCustomerSummary(purchases), now);

function toLastPurchaseInfo(lastPurchase: Purchase | undefined, now: EpochMillis): CustomerInfo {
  if (!lastPurchase) return {};
  const record = toPurchaseRecord(lastPurchase, now);
  return {
    lastPurchaseId: record.purchaseId,
    ...(record.purchaseDate && { lastPurchaseDate: record.purchaseDate }),
    ...(record.lastRenewalDate && { lastRenewalDate: record.lastRenewalDate }),
    ...(record.expirationDate && { expirationDate: record.expirationDate }),
    ...(record.renewalIntent && { renewalIntent: record.renewalIntent }),
    ...(record.isTrialPeriod !== undefined && { isTrialPeriod: record.isTrialPeriod }),
    ...(record.isIntroPeriod !== undefined && { isIntroPeriod: record.isIntroPeriod }),
    ...(record.discountId && { discountId: record.discountId }),
  };
}
