import { listApps } from '../apps/app-table.ts';
import { ServiceError } from '../foundation/errors.ts';
import { logError } from '../foundation/log.ts';
import { storeNames } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import { readStoreStates } from './read-store-states.ts';

/** Logs the stores that no longer send notifications, which an alarm counts. */
export async function reportSilentStores(service: Service): Promise<void> {
  for (const { name: app, deletedAt } of await listApps(service)) {
    if (deletedAt !== undefined) continue;
    for (const { platform, silence } of await readStoreStates(service, app)) {
      if (!silence) continue;
      const message = `${storeNames[platform]} has sent no notification since ${silence.since}.`;
      const context = { worker: 'recover-notifications', problem: 'StoreSilent', app } as const;
      logError(context, new ServiceError('ConnectionFailed', message));
    }
  }
}
