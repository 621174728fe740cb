import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { getService } from '../../lib/foundation/get-service.ts';
import { handleBatch } from '../../lib/foundation/handle-batch.ts';
import { processNotification } from '../../lib/store-notifications/process-notification.ts';
import { QueuedNotification } from '../../lib/store-notifications/queued-notification.ts';

export const handler = async (lambdaEvent: SQSEvent): Promise<SQSBatchResponse> =>
  await handleBatch(getService(), lambdaEvent, {
    worker: 'process-notification',
    schema: QueuedNotification,
    handle: processNotification,
  });
