import { replayDeliveries } from '../../lib/api/webhooks.ts';
import { deliveries, now, webhookQueue } from '../../lib/deps.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { replayDeliveries as replay } from '../../lib/webhooks/replay-deliveries.ts';

export const handler = createHandler(replayDeliveries, { deliveries, now, webhookQueue })(
  async ({ app, body }, deps) => ({
    ok: true,
    ...(await replay(app.name, body, deps)),
  }),
);
