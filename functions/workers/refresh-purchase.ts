import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { events, loadStore, provideDeps, recordPurchase, storeContextProviders, userAliases } from '../../lib/deps.ts';
import { handleBatch } from '../../lib/queue/handle-batch.ts';
import { RefreshMessage } from '../../lib/refresh/refresh-message.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';

const deps = provideDeps({ ...storeContextProviders, events, loadStore, recordPurchase, userAliases });

export const handler = async (lambdaEvent: SQSEvent): Promise<SQSBatchResponse> =>
  await handleBatch(lambdaEvent, {
    worker: 'refresh-purchase',
    schema: RefreshMessage,
    handle: async (message) => {
      await refreshPurchase(message, deps);
    },
  });
