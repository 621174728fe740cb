import pMap, { pMapSkip } from 'p-map';
import { type Attempt, requireAll } from '../foundation/failed-items.ts';
import type { Service } from '../foundation/service.ts';
import type { Announcement } from './announcement.ts';
import { listAnnouncements } from './purchase-table.ts';

/** Maximum number of purchases whose notifications are read concurrently. */
const concurrency = 25;

/** Lists the lifecycle notifications of several purchases by id. Leaves out those for which `attempt` fails. */
export async function listNotificationsByPurchase(
  service: Service,
  appName: string,
  purchaseIds: readonly string[],
  attempt: Attempt = requireAll,
): Promise<ReadonlyMap<string, readonly Announcement[]>> {
  const entries = await pMap(
    new Set(purchaseIds),
    async (id) => {
      const announcements = await attempt(id, async () => await listAnnouncements(service, appName, id));
      return announcements ? ([id, announcements] as const) : pMapSkip;
    },
    { concurrency },
  );
  return new Map(entries);
}
