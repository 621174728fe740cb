import type { Context } from 'aws-lambda';
import { apps } from '../../composition/apps.ts';
import { events } from '../../composition/events.ts';
import { notificationQueue } from '../../composition/queues.ts';
import { storeContextDeps } from '../../composition/store-context.ts';
import { table } from '../../composition/table.ts';
import { createHandledNotificationRepository } from '../../lib/db/handled-notification-repository.ts';
import { once } from '../../lib/shared/once.ts';
import { pollNotifications } from '../../lib/store-notifications/recover-notifications.ts';
import { loadStore } from '../../lib/stores/index.ts';

const deps = once(() => ({
  ...storeContextDeps(),
  apps: apps(),
  events: events(),
  handledNotifications: createHandledNotificationRepository(table()),
  loadStore,
  notificationQueue: notificationQueue(),
}));

export const handler = async (_event: unknown, context: Context): Promise<void> =>
  await pollNotifications(deps(), () => context.getRemainingTimeInMillis());
