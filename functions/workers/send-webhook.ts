import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import {
  apps,
  deliveries,
  events,
  now,
  ownedPurchases,
  postWebhook,
  provideDeps,
  purchases,
  webhookQueue,
} from '../../lib/deps.ts';
import { handleBatch } from '../../lib/queue/handle-batch.ts';
import { sendWebhook } from '../../lib/webhooks/send-webhook.ts';
import { WebhookMessage } from '../../lib/webhooks/webhook-message.ts';

const deps = provideDeps({ apps, deliveries, events, now, ownedPurchases, postWebhook, purchases, webhookQueue });

export const handler = async (lambdaEvent: SQSEvent): Promise<SQSBatchResponse> =>
  await handleBatch(lambdaEvent, {
    worker: 'send-webhook',
    schema: WebhookMessage,
    handle: async (message) => await sendWebhook(message, deps),
  });
