import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { deps } from '../../lib/deps.ts';
import { handleBatch } from '../../lib/queue/handle-batch.ts';
import { RefreshMessage } from '../../lib/refresh/refresh-message.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';

export const handler = async (lambdaEvent: SQSEvent): Promise<SQSBatchResponse> =>
  await handleBatch(lambdaEvent, {
    worker: 'refresh-purchase',
    schema: RefreshMessage,
    handle: async (message) => await refreshPurchase(message, deps()),
  });
