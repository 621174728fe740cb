import { createHandler } from '../../lib/http/endpoint.ts';
import { replayDelivery } from '../../lib/webhooks/contract.ts';
import { replayDelivery as replay } from '../../lib/webhooks/replay-deliveries.ts';
import { toDeliveryRecord } from '../../lib/webhooks/to-delivery-record.ts';

export const handler = createHandler(replayDelivery)(async ({ app, params, recorder }, service) => {
  const delivery = await replay(service, app.name, params.id);
  const { type, username, notification } = delivery;
  if (username !== undefined) recorder.setUser(username);
  recorder.addContent({ notifications: [{ id: notification.id, type, reason: notification.reason }] });
  return { ok: true, delivery: toDeliveryRecord(delivery) };
});
