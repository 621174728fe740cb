import pMap from 'p-map';
import { getApp } from '../apps/manage-apps.ts';
import type { Deps } from '../deps.ts';
import { type RefreshDeps, refreshPurchase } from './refresh-purchase.ts';

/** Number of purchases that are refreshed concurrently, far below the rate limits of the stores. */
const concurrency = 5;

/**
 * Queries the stores for all purchases of an app, regardless of their schedule. A restored table lacks the refunds and renewals
 * after the restored time. Returns the number of purchases. A failed refresh is logged and retried on its schedule.
 */
export async function refreshAllPurchases(
  name: string,
  deps: RefreshDeps & Pick<Deps, 'appItems' | 'apps'>,
): Promise<number> {
  const { name: appName } = await getApp(deps.apps, name);
  let count = 0;
  for await (const purchaseIds of deps.appItems.scanPurchaseIds(appName)) {
    await pMap(purchaseIds, async (purchaseId) => await refreshPurchase({ appName, purchaseId }, deps), {
      concurrency,
    });
    count += purchaseIds.length;
  }
  return count;
}
