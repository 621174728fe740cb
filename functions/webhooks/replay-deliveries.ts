import { createHandler } from '../../lib/http/endpoint.ts';
import { replayDeliveries } from '../../lib/webhooks/contract.ts';
import { enqueueReplays } from '../../lib/webhooks/enqueue-replays.ts';

export const handler = createHandler(replayDeliveries)(async ({ app, body }, service) => ({
  ok: true,
  ...(await enqueueReplays(service, app.name, body)),
}));
