import * as v from 'valibot';
import { OptionalNumber } from '../api/schemas.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { isSubscription, isUnpaid, Purchase } from '../purchases/purchase.ts';
import { compareByPurchaseDate, listRanks } from '../purchases/purchase-rank.ts';

/** Stored excerpt of a customer's purchases, so that a list of customers does not read the purchases. */
export const CustomerSummary = v.object({
  /** The paid purchase with the latest purchase date. */
  lastPurchase: v.exactOptional(Purchase),
  /** Latest known end of access by a subscription, in epoch milliseconds. */
  subscribedUntil: OptionalNumber,
  hasEverSubscribed: v.boolean(),
});
export type CustomerSummary = v.InferOutput<typeof CustomerSummary>;

/** A customer of a list. */
export interface CustomerRow {
  readonly username: string;
  readonly summary: CustomerSummary;
  /** Time of the first purchase or claim. */
  readonly createdAt: EpochMillis;
}

/** A summary before and after it was rebuilt. */
export interface SummaryChange {
  readonly before: CustomerSummary;
  readonly after: CustomerSummary;
}

/** Builds the summary of the purchases. Independent of the current time, so a stored summary does not become stale. */
export function buildCustomerSummary(purchases: readonly Purchase[]): CustomerSummary {
  const [lastPurchase] = purchases.filter((purchase) => !isUnpaid(purchase)).sort(compareByPurchaseDate);
  const ranks = purchases.filter(isSubscription).map((purchase) => listRanks(purchase)[0]);
  const ends = ranks.filter(({ phase }) => phase === 'live' || phase === 'ending').map(({ end }) => end);
  const subscribedUntil = ends.reduce((a, b) => Math.max(a, b), 0);
  return {
    ...(lastPurchase && { lastPurchase }),
    ...(subscribedUntil > 0 && { subscribedUntil }),
    hasEverSubscribed: ranks.some(({ phase }) => phase !== 'unpaid'),
  };
}
