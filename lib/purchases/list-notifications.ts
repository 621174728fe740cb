import pMap from 'p-map';
import type { Service } from '../foundation/service.ts';
import type { Announcement } from './announcement.ts';
import { listAnnouncements } from './purchase-table.ts';

/** Maximum number of purchases whose notifications are read concurrently. */
const concurrency = 25;

/** Lists the lifecycle notifications of several purchases, by purchase id. */
export async function listNotificationsByPurchase(
  service: Service,
  appName: string,
  purchaseIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Announcement[]>> {
  const entries = await pMap(
    new Set(purchaseIds),
    async (id) => [id, await listAnnouncements(service, appName, id)] as const,
    { concurrency },
  );
  return new Map(entries);
}
