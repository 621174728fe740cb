import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { getService } from '../../lib/foundation/get-service.ts';
import { handleBatch } from '../../lib/foundation/handle-batch.ts';
import { sendWebhook } from '../../lib/webhooks/send-webhook.ts';
import { WebhookMessage } from '../../lib/webhooks/webhook-message.ts';

export const handler = async (lambdaEvent: SQSEvent): Promise<SQSBatchResponse> =>
  await handleBatch(getService(), lambdaEvent, {
    worker: 'send-webhook',
    schema: WebhookMessage,
    handle: sendWebhook,
  });
