import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import {
  events,
  handledNotifications,
  loadStore,
  notificationQueue,
  priceLists,
  provideDeps,
  recordPurchase,
  storeContextProviders,
  userAliases,
} from '../../lib/deps.ts';
import { handleBatch } from '../../lib/queue/handle-batch.ts';
import { processNotification } from '../../lib/store-notifications/process-notification.ts';
import { QueuedNotification } from '../../lib/store-notifications/queued-notification.ts';

const deps = provideDeps({
  ...storeContextProviders,
  events,
  handledNotifications,
  loadStore,
  notificationQueue,
  priceLists,
  recordPurchase,
  userAliases,
});

export const handler = async (lambdaEvent: SQSEvent): Promise<SQSBatchResponse> =>
  await handleBatch(lambdaEvent, {
    worker: 'process-notification',
    schema: QueuedNotification,
    handle: async (message) => await processNotification(message, deps),
  });
