import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { deps } from '../../lib/deps.ts';
import { handleBatch } from '../../lib/queue/handle-batch.ts';
import { RefreshMessage, refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';

export const handler = async (event: SQSEvent): Promise<SQSBatchResponse> =>
  await handleBatch(event, {
    schema: RefreshMessage,
    handle: async (order) => await refreshPurchase(order, deps()),
  });
