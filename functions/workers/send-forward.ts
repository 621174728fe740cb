import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { ForwardMessage } from '../../lib/forwards/forward-message.ts';
import { sendForward } from '../../lib/forwards/send-forward.ts';
import { getService } from '../../lib/foundation/container.ts';
import { handleBatch } from '../../lib/foundation/handle-batch.ts';
import { startBatch } from '../../lib/webhooks/shared-reads.ts';

export const handler = async (lambdaEvent: SQSEvent): Promise<SQSBatchResponse> => {
  const batch = startBatch(getService());
  return await handleBatch(lambdaEvent, {
    worker: 'send-forward',
    schema: ForwardMessage,
    handle: async (message) => await sendForward(batch, message),
  });
};
