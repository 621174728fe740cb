import { createHandler } from '../../lib/http/endpoint.ts';
import { getWebhookStats } from '../../lib/webhooks/contract.ts';
import { readWebhookStats } from '../../lib/webhooks/read-webhook-stats.ts';

export const handler = createHandler(getWebhookStats)(
  async ({ app, query }, service) => await readWebhookStats(service, app, query),
);
