import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { ForwardMessage } from '../../lib/forwards/forward-message.ts';
import { sendForward } from '../../lib/forwards/send-forward.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { handleBatch } from '../../lib/foundation/handle-batch.ts';

export const handler = async (lambdaEvent: SQSEvent): Promise<SQSBatchResponse> =>
  await handleBatch(getService(), lambdaEvent, {
    worker: 'send-forward',
    schema: ForwardMessage,
    handle: sendForward,
  });
