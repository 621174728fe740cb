import { repeatWebhook } from '../../lib/api/webhooks.ts';
import { deliveries, events, now, purchases, webhookQueue } from '../../lib/deps.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { repeatWebhooks } from '../../lib/webhooks/repeat-webhooks.ts';

export const handler = createHandler(repeatWebhook, { deliveries, events, now, purchases, webhookQueue })(
  async ({ app, body, recorder }, deps) => {
    const deliveries = await repeatWebhooks(app, body.reqId, deps);
    for (const { username } of deliveries.slice(0, 1)) if (username !== undefined) recorder.setUser(username);
    recorder.addContent({
      notifications: deliveries.slice(0, 1).map(({ notification: { id, reason } }) => ({ id, reason })),
    });
    return { ok: true };
  },
);
