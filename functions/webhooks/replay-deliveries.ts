import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { webhookQueue } from '../../composition/queues.ts';
import { table } from '../../composition/table.ts';
import { replayDeliveries } from '../../lib/api/webhooks.ts';
import { createDeliveryRepository } from '../../lib/db/delivery-repository.ts';
import { createForwardChainRepository } from '../../lib/db/forward-chain-repository.ts';
import { replayDeliveries as replay } from '../../lib/webhooks/replay-deliveries.ts';

export const handler = createHandler(replayDeliveries, () => ({
  deliveries: createDeliveryRepository(table()),
  forwardChains: createForwardChainRepository(table()),
  now,
  webhookQueue: webhookQueue(),
}))(async ({ app, body }, deps) => ({
  ok: true,
  ...(await replay(app.name, body, deps)),
}));
