import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { events } from '../../composition/events.ts';
import { purchases } from '../../composition/purchases.ts';
import { webhookQueue } from '../../composition/queues.ts';
import { table } from '../../composition/table.ts';
import { repeatWebhook } from '../../lib/api/webhooks.ts';
import { createDeliveryRepository } from '../../lib/db/delivery-repository.ts';
import { repeatWebhooks } from '../../lib/webhooks/repeat-webhooks.ts';

export const handler = createHandler(repeatWebhook, () => ({
  deliveries: createDeliveryRepository(table()),
  events: events(),
  now,
  purchases: purchases(),
  webhookQueue: webhookQueue(),
}))(async ({ app, body, recorder }, deps) => {
  const deliveries = await repeatWebhooks(app, body.reqId, deps);
  for (const { username } of deliveries.slice(0, 1)) if (username !== undefined) recorder.setUser(username);
  recorder.addContent({
    notifications: deliveries.slice(0, 1).map(({ notification: { id, reason } }) => ({ id, reason })),
  });
  return { ok: true };
});
