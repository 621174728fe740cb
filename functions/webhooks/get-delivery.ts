import { listEventsByIdPrefix } from '../../lib/events/event-list-table.ts';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { toAttemptPrefix } from '../../lib/foundation/event-id.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { getDelivery } from '../../lib/webhooks/contract.ts';
import { findDelivery } from '../../lib/webhooks/delivery-table.ts';
import { toAttemptRecord, toDeliveryRecord } from '../../lib/webhooks/to-delivery-record.ts';

/** More than the attempts of a delivery and of some replays. */
const maxAttempts = 50;

export const handler = createHandler(getDelivery)(async ({ app, params }, service) => {
  const delivery = await findDelivery(service, app.name, params.id);
  if (!delivery) throw new ServiceError('ResourceNotFound', 'The delivery is not found.');
  const { deliveryId, notification } = delivery;
  const query = { prefix: toAttemptPrefix(deliveryId), limit: maxAttempts };
  const attempts = await listEventsByIdPrefix(service, app.name, notification.id, query);
  return { ...toDeliveryRecord(delivery), attempts: attempts.map(toAttemptRecord) };
});
