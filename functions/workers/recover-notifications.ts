import type { Context } from 'aws-lambda';
import { runForApps } from '../../lib/apps/app-list-table.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { reportSilentStores } from '../../lib/problems/report-silent-stores.ts';
import { recoverUndelivered } from '../../lib/store-notifications/recover-notifications.ts';

export const handler = async (_event: unknown, context: Context): Promise<void> => {
  const service = getService();
  await runForApps(service, async (apps) => {
    await recoverUndelivered(service, apps, () => context.getRemainingTimeInMillis());
    await reportSilentStores(service, apps);
  });
};
