import { testWebhook } from '../../lib/api/webhooks.ts';
import { apps, deliveries, now, webhookQueue } from '../../lib/deps.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { sendTestWebhook } from '../../lib/webhooks/manage-webhooks.ts';
import { toDeliveryRecord } from '../../lib/webhooks/to-delivery-record.ts';

export const handler = createHandler(testWebhook, { apps, deliveries, now, webhookQueue })(async ({ app }, deps) => {
  const deliveries = await sendTestWebhook(app.name, deps);
  return { ok: true, deliveries: deliveries.map(toDeliveryRecord) };
});
