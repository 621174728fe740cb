import pMap from 'p-map';
import type { Announcement } from './announcement.ts';
import type { PurchaseRepository } from './purchase-repository.ts';

/** Maximum number of purchases whose notifications are read concurrently. */
const concurrency = 25;

/** Lists the lifecycle notifications of several purchases, by purchase id. */
export async function listNotificationsByPurchase(
  appName: string,
  purchaseIds: readonly string[],
  purchases: Pick<PurchaseRepository, 'listNotifications'>,
): Promise<ReadonlyMap<string, readonly Announcement[]>> {
  const entries = await pMap(
    new Set(purchaseIds),
    async (id) => [id, await purchases.listNotifications(appName, id)] as const,
    { concurrency },
  );
  return new Map(entries);
}
