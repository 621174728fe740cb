import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { appCache, apps } from '../../composition/apps.ts';
import { cipher } from '../../composition/cipher.ts';
import { now } from '../../composition/environment.ts';
import { events } from '../../composition/events.ts';
import { postWebhook } from '../../composition/post-webhook.ts';
import { forwardQueue } from '../../composition/queues.ts';
import { table } from '../../composition/table.ts';
import { createDeliveryRepository } from '../../lib/db/delivery-repository.ts';
import { createForwardChainRepository } from '../../lib/db/forward-chain-repository.ts';
import { ForwardMessage } from '../../lib/forwards/forward-message.ts';
import { sendForward } from '../../lib/forwards/send-forward.ts';
import { handleBatch } from '../../lib/queue/handle-batch.ts';
import { once } from '../../lib/shared/once.ts';
import { getWallTime } from '../../lib/shared/override-date.ts';
import { withSharedReads } from '../../lib/webhooks/with-shared-reads.ts';

const deps = once(() => ({
  appCache: appCache(),
  apps: apps(),
  chains: createForwardChainRepository(table()),
  cipher: cipher(),
  deliveries: createDeliveryRepository(table()),
  events: events(),
  forwardQueue: forwardQueue(),
  getWallTime,
  now,
  postWebhook: postWebhook(),
}));

export const handler = async (lambdaEvent: SQSEvent): Promise<SQSBatchResponse> => {
  const batchDeps = withSharedReads(deps());
  return await handleBatch(lambdaEvent, {
    worker: 'send-forward',
    schema: ForwardMessage,
    handle: async (message) => await sendForward(message, batchDeps),
  });
};
