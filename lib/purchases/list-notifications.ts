import type { EpochMillis } from '../shared/time.ts';
import type { NotificationReason } from './lifecycle-reasons.ts';

interface PurchaseNotificationEntry {
  readonly date: EpochMillis;
  readonly reason: NotificationReason;
}

interface NotificationSource {
  listNotifications(appName: string, purchaseId: string): Promise<readonly PurchaseNotificationEntry[]>;
}

/** Purchases whose notifications are read at the same time. */
const concurrency = 25;

/** The notifications of several purchases, by purchase, each read once. */
export async function listNotificationsByPurchase(
  appName: string,
  purchaseIds: readonly string[],
  source: NotificationSource,
): Promise<ReadonlyMap<string, readonly PurchaseNotificationEntry[]>> {
  const uniqueIds = [...new Set(purchaseIds)];
  const found = new Map<string, readonly PurchaseNotificationEntry[]>();
  for (let start = 0; start < uniqueIds.length; start += concurrency) {
    await Promise.all(
      uniqueIds.slice(start, start + concurrency).map(async (id) => {
        found.set(id, await source.listNotifications(appName, id));
      }),
    );
  }
  return found;
}
