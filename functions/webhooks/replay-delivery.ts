import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { webhookQueue } from '../../composition/queues.ts';
import { table } from '../../composition/table.ts';
import { replayDelivery } from '../../lib/api/webhooks.ts';
import { createDeliveryRepository } from '../../lib/db/delivery-repository.ts';
import { createForwardChainRepository } from '../../lib/db/forward-chain-repository.ts';
import { replayDelivery as replay } from '../../lib/webhooks/replay-deliveries.ts';
import { toDeliveryRecord } from '../../lib/webhooks/to-delivery-record.ts';

export const handler = createHandler(replayDelivery, () => ({
  deliveries: createDeliveryRepository(table()),
  forwardChains: createForwardChainRepository(table()),
  now,
  webhookQueue: webhookQueue(),
}))(async ({ app, params, recorder }, deps) => {
  const delivery = await replay(app.name, params.id, deps);
  const { username, notification } = delivery;
  if (username !== undefined) recorder.setUser(username);
  recorder.addContent({ notifications: [{ id: notification.id, reason: notification.reason }] });
  return { ok: true, delivery: toDeliveryRecord(delivery) };
});
