import { apps } from '../../composition/apps.ts';
import { now } from '../../composition/environment.ts';
import { postWebhook } from '../../composition/post-webhook.ts';
import { table } from '../../composition/table.ts';
import { createAlertRepository } from '../../lib/db/alert-repository.ts';
import { createDeliveryRepository } from '../../lib/db/delivery-repository.ts';
import { createDueItemRepository } from '../../lib/db/due-item-repository.ts';
import { createStoreActivityRepository } from '../../lib/db/store-activity-repository.ts';
import { sendAlerts } from '../../lib/problems/send-alerts.ts';
import { once } from '../../lib/shared/once.ts';

const deps = once(() => ({
  alerts: createAlertRepository(table()),
  apps: apps(),
  deliveries: createDeliveryRepository(table()),
  dueItems: createDueItemRepository(table()),
  now,
  postWebhook: postWebhook(),
  storeActivities: createStoreActivityRepository(table()),
}));

export const handler = async (): Promise<void> => await sendAlerts(deps());
