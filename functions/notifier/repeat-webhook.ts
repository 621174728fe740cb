import { repeatWebhook } from '../../lib/api/notifier.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { repeatWebhooks } from '../../lib/webhooks/repeat.ts';

export const handler = endpoint(repeatWebhook)(async ({ app, body, event }, deps) => {
  const deliveries = await repeatWebhooks(app, body.reqId, deps);
  for (const { username } of deliveries.slice(0, 1)) if (username !== undefined) event.user(username);
  event.note({ notifications: deliveries.slice(0, 1).map(({ notification: { id, reason } }) => ({ id, reason })) });
  return { ok: true };
});
