import { createHandler } from '../../composition/endpoint.ts';
import { events } from '../../composition/events.ts';
import { table } from '../../composition/table.ts';
import { getDelivery } from '../../lib/api/webhooks.ts';
import { createDeliveryRepository } from '../../lib/db/delivery-repository.ts';
import { toAttemptPrefix } from '../../lib/foundation/event-id.ts';
import { ServiceError } from '../../lib/shared/errors.ts';
import { toAttemptRecord, toDeliveryRecord } from '../../lib/webhooks/to-delivery-record.ts';

/** More than the attempts of a delivery and of some replays. */
const maxAttempts = 50;

export const handler = createHandler(getDelivery, () => ({
  deliveries: createDeliveryRepository(table()),
  events: events(),
}))(async ({ app, params }, { deliveries, events }) => {
  const delivery = await deliveries.find(app.name, params.id);
  if (!delivery) throw new ServiceError('ResourceNotFound', 'The delivery is not found.');
  const { deliveryId, notification } = delivery;
  const query = { prefix: toAttemptPrefix(deliveryId), limit: maxAttempts };
  const attempts = await events.listByIdPrefix(app.name, notification.id, query);
  return { ...toDeliveryRecord(delivery), attempts: attempts.map(toAttemptRecord) };
});
