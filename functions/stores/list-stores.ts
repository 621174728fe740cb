import { apps } from '../../composition/apps.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { table } from '../../composition/table.ts';
import { listStores } from '../../lib/api/stores.ts';
import { createStoreActivityRepository } from '../../lib/db/store-activity-repository.ts';
import { readStoreStates } from '../../lib/problems/read-store-states.ts';
import { buildNotificationUrl } from '../../lib/store-notifications/notification-urls.ts';

export const handler = createHandler(listStores, () => ({
  apps: apps(),
  now,
  storeActivities: createStoreActivityRepository(table()),
}))(async ({ app: { name }, baseUrl }, deps) => {
  const rows = (await readStoreStates(name, deps)).map(({ platform, ...state }) => {
    const notificationUrl = buildNotificationUrl(baseUrl, name, platform);
    return { platform, ...(notificationUrl && { notificationUrl }), ...state };
  });
  return { appName: name, rows };
});
