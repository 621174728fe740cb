import type { Context } from 'aws-lambda';
import { runForApps } from '../../lib/apps/app-list-table.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { pollNotifications } from '../../lib/store-notifications/recover-notifications.ts';

export const handler = async (_event: unknown, context: Context): Promise<void> => {
  const service = getService();
  await runForApps(
    service,
    async (apps) => await pollNotifications(service, apps, () => context.getRemainingTimeInMillis()),
  );
};
