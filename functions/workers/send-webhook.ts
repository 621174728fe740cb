import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { deps } from '../../lib/deps.ts';
import { handleBatch } from '../../lib/queue/handle-batch.ts';
import { WebhookMessage } from '../../lib/webhooks/delivery.ts';
import { sendWebhook } from '../../lib/webhooks/send-webhook.ts';

export const handler = async (event: SQSEvent): Promise<SQSBatchResponse> =>
  await handleBatch(event, {
    schema: WebhookMessage,
    handle: async (order) => await sendWebhook(order, deps()),
  });
