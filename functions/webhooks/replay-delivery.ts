import { createHandler } from '../../lib/http/endpoint.ts';
import { replayDelivery } from '../../lib/webhooks/contract.ts';
import { describeDelivery } from '../../lib/webhooks/delivery.ts';
import { enqueueReplay } from '../../lib/webhooks/enqueue-replays.ts';
import { toDeliveryRecord } from '../../lib/webhooks/to-delivery-record.ts';

export const handler = createHandler(replayDelivery)(async ({ app, params, recorder }, service) => {
  const delivery = await enqueueReplay(service, app.name, params.id);
  describeDelivery(recorder, delivery);
  return { ok: true, delivery: toDeliveryRecord(delivery) };
});
