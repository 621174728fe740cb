import * as v from 'valibot';
import { getAccessEnd, isSubscription, Purchase } from '../purchases/purchase.ts';

/** What the table keeps of a customer's purchases, so that a list of customers need not read them. */
export const CustomerSummary = v.object({
  /** The latest purchase. */
  lastPurchase: v.exactOptional(Purchase),
  /** Until when a subscription of the customer gives access, as far as it is known now. */
  subscribedUntil: v.exactOptional(v.number()),
  /** Whether the customer ever had a subscription. */
  hasEverSubscribed: v.boolean(),
});
export type CustomerSummary = v.InferOutput<typeof CustomerSummary>;

const wasPaid = ({ isPending, isAbandoned }: Purchase): boolean => isPending !== true && isAbandoned !== true;

/** The summary of what a customer owns; it holds no present time, so that it stays true as time goes by. */
export function buildCustomerSummary(purchases: readonly Purchase[]): CustomerSummary {
  const [last] = [...purchases].sort((a, b) => (b.purchaseDate ?? 0) - (a.purchaseDate ?? 0));
  const subscriptions = purchases.filter((purchase) => isSubscription(purchase) && wasPaid(purchase));
  const activeSubscriptions = subscriptions.filter(({ isPaused, isConsumed }) => !isPaused && !isConsumed);
  const subscribedUntil = activeSubscriptions.map(getAccessEnd).reduce((a, b) => Math.max(a, b), 0);
  return {
    ...(last && { lastPurchase: last }),
    ...(subscribedUntil > 0 && { subscribedUntil }),
    hasEverSubscribed: subscriptions.length > 0,
  };
}
