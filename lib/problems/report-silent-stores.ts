import type { App } from '../apps/app.ts';
import { ServiceError } from '../foundation/errors.ts';
import { catchFailure, logError } from '../foundation/log.ts';
import { storeNames } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import { readStoreStates } from './read-store-states.ts';

/**
 * Logs the stores that no longer send notifications, which an alarm counts. Throws the first failure after all apps.
 */
export async function reportSilentStores(service: Service, apps: readonly App[]): Promise<void> {
  const failures: ServiceError[] = [];
  for (const { name: app, deletedAt } of apps) {
    if (deletedAt !== undefined) continue;
    const context = { worker: 'recover-notifications', app };
    const failure = await catchFailure(context, async () => {
      for (const { platform, silence } of await readStoreStates(service, app)) {
        if (!silence) continue;
        const message = `${storeNames[platform]} has sent no notification since ${silence.since}.`;
        logError({ ...context, problem: 'StoreSilent' }, new ServiceError('ConnectionFailed', message));
      }
    });
    if (failure) failures.push(failure);
  }
  if (failures[0]) throw failures[0];
}
