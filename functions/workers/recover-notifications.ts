import type { Context } from 'aws-lambda';
import {
  apps,
  events,
  handledNotifications,
  loadStore,
  notificationQueue,
  provideDeps,
  storeContextProviders,
} from '../../lib/deps.ts';
import { recoverUndelivered } from '../../lib/store-notifications/recover-notifications.ts';

const deps = provideDeps({
  ...storeContextProviders,
  apps,
  events,
  handledNotifications,
  loadStore,
  notificationQueue,
});

export const handler = async (_event: unknown, context: Context): Promise<void> =>
  await recoverUndelivered(deps, () => context.getRemainingTimeInMillis());
