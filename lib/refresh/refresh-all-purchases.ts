import pMap from 'p-map';
import { getApp } from '../apps/manage-apps.ts';
import { catchFailure } from '../foundation/log.ts';
import type { ReportProgress } from '../foundation/progress.ts';
import type { Service } from '../foundation/service.ts';
import { scanPurchaseIds } from '../purchases/app-item-table.ts';
import { refreshPurchase } from './refresh-purchase.ts';

interface RefreshAllResult {
  readonly refreshed: number;
  /** Number of purchases whose store was unavailable or rejected the query, or that could not be recorded. */
  readonly failed: number;
}

/** Number of purchases that are refreshed concurrently, far below the rate limits of the stores. */
const concurrency = 5;

/**
 * Queries the stores for all purchases of an app, regardless of their schedule. A restored table lacks the refunds and
 * renewals after the restored time. A failed refresh is logged and retried on its schedule.
 */
export async function refreshAllPurchases(
  service: Service,
  name: string,
  reportProgress?: ReportProgress,
): Promise<RefreshAllResult> {
  const { name: appName } = await getApp(service, name);
  let [refreshed, failed] = [0, 0];
  const refresh = async (purchaseId: string) => {
    // One purchase that cannot be recorded must not end the command, which would start again with the first one.
    let isRefreshed = false;
    await catchFailure({ worker: 'refresh-purchase', app: appName, purchaseId }, async () => {
      isRefreshed = await refreshPurchase(service, { appName, purchaseId });
    });
    if (isRefreshed) refreshed++;
    else failed++;
    reportProgress?.(refreshed + failed);
  };
  for await (const purchaseIds of scanPurchaseIds(service, appName)) await pMap(purchaseIds, refresh, { concurrency });
  return { refreshed, failed };
}
