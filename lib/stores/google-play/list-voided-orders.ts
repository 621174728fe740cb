import { dayMs, type EpochMillis, hourMs } from '../../foundation/time.ts';
import type { VoidedPurchases } from './payloads.ts';
import type { PlayApi } from './play-api.ts';

export type VoidedOrder = VoidedPurchases['voidedPurchases'][number];

/** Google Play lists voided purchases for 30 days. One hour less allows for a clock difference. */
export const voidedRetentionMs = 30 * dayMs - hourMs;

/**
 * Lists the orders that were voided since a time of the last 30 days.
 * @see https://developers.google.com/android-publisher/voided-purchases
 */
export async function listVoidedOrders(play: PlayApi, since: EpochMillis): Promise<VoidedOrder[]> {
  const voidedOrders: VoidedOrder[] = [];
  const visitedPages = new Set<string>();
  for (let pageToken = ''; !visitedPages.has(pageToken); ) {
    visitedPages.add(pageToken);
    const { voidedPurchases, tokenPagination } = await play.listVoidedPurchases(since, pageToken || undefined);
    voidedOrders.push(...voidedPurchases);
    pageToken = tokenPagination?.nextPageToken ?? '';
  }
  return voidedOrders;
}
