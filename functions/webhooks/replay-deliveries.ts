import { createHandler } from '../../lib/http/endpoint.ts';
import { replayDeliveries } from '../../lib/webhooks/contract.ts';
import { replayDeliveries as replay } from '../../lib/webhooks/replay-deliveries.ts';

export const handler = createHandler(replayDeliveries)(async ({ app, body }, service) => ({
  ok: true,
  ...(await replay(service, app.name, body)),
}));
