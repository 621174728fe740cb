import type {
  getDelivery,
  getWebhookStats,
  listDeliveries,
  replayDeliveries,
  replayDelivery,
  testWebhook,
} from '../../lib/webhooks/contract.ts';
import { defineEndpoint } from './client.ts';

/** Endpoints of webhook deliveries. */
export const webhookEndpoints = {
  listDeliveries: defineEndpoint<typeof listDeliveries>('GET', '/v3/webhooks/deliveries'),
  getDelivery: defineEndpoint<typeof getDelivery>('GET', '/v3/webhooks/deliveries/:id'),
  getWebhookStats: defineEndpoint<typeof getWebhookStats>('GET', '/v3/webhooks/stats'),
  replayDelivery: defineEndpoint<typeof replayDelivery>('POST', '/v3/webhooks/deliveries/:id/replay'),
  replayDeliveries: defineEndpoint<typeof replayDeliveries>('POST', '/v3/webhooks/replay'),
  testWebhook: defineEndpoint<typeof testWebhook>('POST', '/v3/webhooks/test'),
};
