import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { events } from '../../composition/events.ts';
import { notificationQueue } from '../../composition/queues.ts';
import { recordPurchase } from '../../composition/record-purchase.ts';
import { service } from '../../composition/service.ts';
import { storeContextDeps } from '../../composition/store-context.ts';
import { table } from '../../composition/table.ts';
import { createDeliveryRepository } from '../../lib/db/delivery-repository.ts';
import { createHandledNotificationRepository } from '../../lib/db/handled-notification-repository.ts';
import { createPriceListRepository } from '../../lib/db/price-list-repository.ts';
import { createUserAliasRepository } from '../../lib/db/user-alias-repository.ts';
import { handleBatch } from '../../lib/queue/handle-batch.ts';
import { once } from '../../lib/shared/once.ts';
import { processNotification } from '../../lib/store-notifications/process-notification.ts';
import { QueuedNotification } from '../../lib/store-notifications/queued-notification.ts';
import { loadStore } from '../../lib/stores/index.ts';

const deps = once(() => ({
  ...storeContextDeps(),
  deliveries: createDeliveryRepository(table()),
  events: events(),
  handledNotifications: createHandledNotificationRepository(table()),
  loadStore,
  notificationQueue: notificationQueue(),
  priceLists: createPriceListRepository(table()),
  recordPurchase: recordPurchase(),
  ...service(),
  userAliases: createUserAliasRepository(table()),
}));

export const handler = async (lambdaEvent: SQSEvent): Promise<SQSBatchResponse> =>
  await handleBatch(lambdaEvent, {
    worker: 'process-notification',
    schema: QueuedNotification,
    handle: async (message) => await processNotification(message, deps()),
  });
