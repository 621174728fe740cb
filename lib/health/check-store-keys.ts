import type { StoreActivity } from '../events/store-activity.ts';
import { selectExpiredKeys } from '../events/store-health.ts';
import { storeNames } from '../shared/platform.ts';
import type { EpochMillis } from '../shared/time.ts';
import { createFinding, type Finding } from './finding.ts';

interface StoreKeyDeps {
  readonly storeActivities: { list(appName: string): Promise<readonly StoreActivity[]> };
  now(): EpochMillis;
}

/** Finds stores that cannot be queried for purchases, because the keys of their customers have expired. */
export async function checkStoreKeys(app: string, { storeActivities, now }: StoreKeyDeps): Promise<readonly Finding[]> {
  return selectExpiredKeys(await storeActivities.list(app), now()).map(({ platform, problem = '' }) => {
    const store = storeNames[platform];
    const diagnosis = {
      problem: `The StoreID key of a customer has expired, so ${store} cannot be queried for the purchase: ${problem}`,
      cure: 'Let the app validate the purchase when the customer opens it: the device creates a new key. Check that the purchases of the store are refreshed daily, which renews the keys.',
    };
    return createFinding('store-keys-expired', diagnosis, { app, platform });
  });
}
