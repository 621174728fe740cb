import type { App } from '../apps/app.ts';
import { ServiceError } from '../foundation/errors.ts';
import { logError } from '../foundation/log.ts';
import { storeNames } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import { readStoreStates } from './read-store-states.ts';

/** Logs the stores that no longer send notifications, which an alarm counts. */
export async function reportSilentStores(service: Service, apps: readonly App[]): Promise<void> {
  for (const { name: app, deletedAt } of apps) {
    if (deletedAt !== undefined) continue;
    for (const { platform, silence } of await readStoreStates(service, app)) {
      if (!silence) continue;
      const message = `${storeNames[platform]} has sent no notification since ${silence.since}.`;
      const context = { worker: 'recover-notifications', problem: 'StoreSilent', app } as const;
      logError(context, new ServiceError('ConnectionFailed', message));
    }
  }
}
