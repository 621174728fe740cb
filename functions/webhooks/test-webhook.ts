import { createHandler } from '../../lib/http/endpoint.ts';
import { testWebhook } from '../../lib/webhooks/contract.ts';
import { sendTestWebhook } from '../../lib/webhooks/manage-webhooks.ts';
import { toDeliveryRecord } from '../../lib/webhooks/to-delivery-record.ts';

export const handler = createHandler(testWebhook)(async ({ app }, service) => {
  const deliveries = await sendTestWebhook(service, app.name);
  return { ok: true, deliveries: deliveries.map(toDeliveryRecord) };
});
