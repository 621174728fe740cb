import { apps } from '../../composition/apps.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { webhookQueue } from '../../composition/queues.ts';
import { table } from '../../composition/table.ts';
import { testWebhook } from '../../lib/api/webhooks.ts';
import { createDeliveryRepository } from '../../lib/db/delivery-repository.ts';
import { sendTestWebhook } from '../../lib/webhooks/manage-webhooks.ts';
import { toDeliveryRecord } from '../../lib/webhooks/to-delivery-record.ts';

export const handler = createHandler(testWebhook, () => ({
  apps: apps(),
  deliveries: createDeliveryRepository(table()),
  now,
  webhookQueue: webhookQueue(),
}))(async ({ app }, deps) => {
  const deliveries = await sendTestWebhook(app.name, deps);
  return { ok: true, deliveries: deliveries.map(toDeliveryRecord) };
});
