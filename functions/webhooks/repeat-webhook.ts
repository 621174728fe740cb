import { createHandler } from '../../lib/http/endpoint.ts';
import { repeatWebhook } from '../../lib/webhooks/contract.ts';
import { describeDelivery } from '../../lib/webhooks/delivery.ts';
import { repeatWebhooks } from '../../lib/webhooks/repeat-webhooks.ts';

export const handler = createHandler(repeatWebhook)(async ({ app, body, recorder }, service) => {
  const deliveries = await repeatWebhooks(service, app, { reqId: body.reqId, eventId: recorder.eventId });
  if (deliveries[0]) describeDelivery(recorder, deliveries[0]);
  return { ok: true };
});
