import { createHandler } from '../../lib/http/endpoint.ts';
import { repeatWebhook } from '../../lib/webhooks/contract.ts';
import { repeatWebhooks } from '../../lib/webhooks/repeat-webhooks.ts';

export const handler = createHandler(repeatWebhook)(async ({ app, body, recorder }, service) => {
  const deliveries = await repeatWebhooks(service, app, { reqId: body.reqId, eventId: recorder.eventId });
  for (const { username } of deliveries.slice(0, 1)) if (username !== undefined) recorder.setUser(username);
  recorder.addContent({
    notifications: deliveries.slice(0, 1).map(({ type, notification: { id, reason } }) => ({ id, type, reason })),
  });
  return { ok: true };
});
