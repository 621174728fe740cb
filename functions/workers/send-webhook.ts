import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { appCache, apps } from '../../composition/apps.ts';
import { now } from '../../composition/environment.ts';
import { events } from '../../composition/events.ts';
import { postWebhook } from '../../composition/post-webhook.ts';
import { purchases } from '../../composition/purchases.ts';
import { forwardQueue, webhookQueue } from '../../composition/queues.ts';
import { service } from '../../composition/service.ts';
import { table } from '../../composition/table.ts';
import { createDeliveryRepository } from '../../lib/db/delivery-repository.ts';
import { createOwnedPurchaseRepository } from '../../lib/db/owned-purchase-repository.ts';
import { listGrants } from '../../lib/entitlements/grant-table.ts';
import { handleBatch } from '../../lib/queue/handle-batch.ts';
import { once } from '../../lib/shared/once.ts';
import { getWallTime } from '../../lib/shared/override-date.ts';
import { sendWebhook } from '../../lib/webhooks/send-webhook.ts';
import { WebhookMessage } from '../../lib/webhooks/webhook-message.ts';
import { withSharedCustomers, withSharedReads } from '../../lib/webhooks/with-shared-reads.ts';

const deps = once(() => ({
  appCache: appCache(),
  apps: apps(),
  deliveries: createDeliveryRepository(table()),
  events: events(),
  forwardQueue: forwardQueue(),
  getWallTime,
  listGrants: async (appName: string, username: string) => await listGrants(service(), appName, username),
  now,
  ownedPurchases: createOwnedPurchaseRepository(table()),
  postWebhook: postWebhook(),
  purchases: purchases(),
  webhookQueue: webhookQueue(),
}));

export const handler = async (lambdaEvent: SQSEvent): Promise<SQSBatchResponse> => {
  const batchDeps = withSharedCustomers(withSharedReads(deps()));
  return await handleBatch(lambdaEvent, {
    worker: 'send-webhook',
    schema: WebhookMessage,
    handle: async (message) => await sendWebhook(message, batchDeps),
  });
};
