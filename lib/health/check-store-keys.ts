import { listStoreActivities } from '../events/store-activity-table.ts';
import { selectExpiredKeys } from '../events/store-health.ts';
import { storeNames } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import { createFinding, type Finding } from './finding.ts';

/** Finds stores that cannot be queried for purchases, because the keys of their customers have expired. */
export async function checkStoreKeys(service: Service, app: string): Promise<readonly Finding[]> {
  return selectExpiredKeys(await listStoreActivities(service, app), service.now()).map(({ platform, problem = '' }) => {
    const store = storeNames[platform];
    const diagnosis = {
      problem: `${store} cannot be queried for a purchase, because the StoreID key of its customer has expired: ${problem}`,
      cure: 'Let the app validate the purchase when the customer opens it: the device creates a new key. Check that the purchases of the store are refreshed daily, which renews the keys.',
    };
    return createFinding('store-keys-expired', diagnosis, { app, platform });
  });
}
