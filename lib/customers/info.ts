import type { CustomerInfo } from '../api/records.ts';
import { isActive, isExpired, isSubscription, type Millis, type Purchase } from '../purchases/purchase.ts';
import { purchaseRecord } from '../purchases/records.ts';

/** The summary of the customer's last purchase, with the subscriber flags as they are at `now`. */
export function customerInfo(purchases: readonly Purchase[], now: Millis): CustomerInfo {
  const [last] = [...purchases].sort((a, b) => (b.purchaseDate ?? 0) - (a.purchaseDate ?? 0));
  if (!last) return { activeSubscriber: false, lapsedSubscriber: false };
  const record = purchaseRecord(last, now);
  const subscriptions = purchases.filter(isSubscription);
  const active = subscriptions.some((purchase) => isActive(purchase, now));
  return {
    lastPurchaseId: record.purchaseId,
    ...(record.purchaseDate && { lastPurchaseDate: record.purchaseDate }),
    ...(record.lastRenewalDate && { lastRenewalDate: record.lastRenewalDate }),
    ...(record.expirationDate && { expirationDate: record.expirationDate }),
    activeSubscriber: active,
    lapsedSubscriber: !active && subscriptions.some((purchase) => isExpired(purchase, now)),
    ...(record.renewalIntent && { renewalIntent: record.renewalIntent }),
    ...(record.isTrialPeriod !== undefined && { isTrialPeriod: record.isTrialPeriod }),
    ...(record.isIntroPeriod !== undefined && { isIntroPeriod: record.isIntroPeriod }),
    ...(record.discountId && { discountId: record.discountId }),
  };
}
