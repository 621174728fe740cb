import type { CustomerInfo } from '../api/purchase-records.ts';
import type { Purchase } from '../purchases/purchase.ts';
import { toPurchaseRecord } from '../purchases/to-records.ts';
import type { EpochMillis } from '../shared/time.ts';
import { buildCustomerSummary, type CustomerSummary } from './customer-summary.ts';

/** What a list shows of a customer, with the subscriber flags as they are at `now`. */
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

/** The summary of the customer's last purchase, with the subscriber flags as they are at `now`. */
export const buildCustomerInfo = (purchases: readonly Purchase[], now: EpochMillis): CustomerInfo =>
  toCustomerInfo(buildCustomerSummary(purchases), now);

function toLastPurchaseInfo(last: Purchase | undefined, now: EpochMillis): CustomerInfo {
  if (!last) return {};
  const record = toPurchaseRecord(last, now);
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
