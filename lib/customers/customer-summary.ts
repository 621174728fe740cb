import * as v from 'valibot';
import { getAccessEnd, isSubscription, Purchase } from '../purchases/purchase.ts';

/** Stored excerpt of a customer's purchases, so that a list of customers does not read the purchases. */
export const CustomerSummary = v.object({
  /** The purchase with the latest purchase date. */
  lastPurchase: v.exactOptional(Purchase),
  /** Latest known end of access by a subscription, in epoch milliseconds. */
  subscribedUntil: v.exactOptional(v.number()),
  /** Whether the customer has ever had a paid subscription. */
  hasEverSubscribed: v.boolean(),
});
export type CustomerSummary = v.InferOutput<typeof CustomerSummary>;

/** A customer of a list. */
export interface CustomerRow {
  readonly username: string;
  readonly summary: CustomerSummary;
}

/** A summary before and after it was rebuilt. */
export interface SummaryChange {
  readonly before: CustomerSummary;
  readonly after: CustomerSummary;
}

/** Builds the summary of the purchases. Independent of the current time, so a stored summary does not become stale. */
export function buildCustomerSummary(purchases: readonly Purchase[]): CustomerSummary {
  const [lastPurchase] = [...purchases].sort((a, b) => (b.purchaseDate ?? 0) - (a.purchaseDate ?? 0));
  const subscriptions = purchases.filter((purchase) => isSubscription(purchase) && wasPaid(purchase));
  const activeSubscriptions = subscriptions.filter(({ isPaused, isConsumed }) => !isPaused && !isConsumed);
  const subscribedUntil = activeSubscriptions.map(getAccessEnd).reduce((a, b) => Math.max(a, b), 0);
  return {
    ...(lastPurchase && { lastPurchase }),
    ...(subscribedUntil > 0 && { subscribedUntil }),
    hasEverSubscribed: subscriptions.length > 0,
  };
}

const wasPaid = ({ isPending, isAbandoned }: Purchase): boolean => isPending !== true && isAbandoned !== true;
