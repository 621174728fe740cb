import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { getService } from '../../lib/foundation/get-service.ts';
import { handleBatch } from '../../lib/foundation/handle-batch.ts';
import { RefreshMessage } from '../../lib/refresh/refresh-message.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { runDueRefundStep } from '../../lib/refunds/answer-refund-request.ts';

export const handler = async (lambdaEvent: SQSEvent): Promise<SQSBatchResponse> =>
  await handleBatch(getService(), lambdaEvent, {
    worker: 'refresh-purchase',
    schema: RefreshMessage,
    handle: async (batch, message) => {
      if ('refundRequestId' in message) await runDueRefundStep(batch, message.appName, message.refundRequestId);
      else await refreshPurchase(batch, message);
    },
  });
