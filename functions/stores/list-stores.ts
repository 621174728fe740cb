import { createHandler } from '../../lib/http/endpoint.ts';
import { readStoreStates } from '../../lib/problems/read-store-states.ts';
import { buildNotificationUrl } from '../../lib/store-notifications/notification-endpoints.ts';
import { listStores } from '../../lib/stores/contract.ts';

export const handler = createHandler(listStores)(async ({ app: { name }, baseUrl }, service) => {
  const rows = (await readStoreStates(service, name)).map(({ platform, ...state }) => {
    const notificationUrl = buildNotificationUrl(baseUrl, name, platform);
    return { platform, ...(notificationUrl && { notificationUrl }), ...state };
  });
  return { appName: name, rows };
});
