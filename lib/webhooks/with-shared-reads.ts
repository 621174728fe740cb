import type { AppRepository } from '../apps/app-repository.ts';
import { memoize } from '../shared/memoize.ts';
import type { DeliveryRepository } from './delivery-repository.ts';

interface ReadDeps {
  readonly apps: Pick<AppRepository, 'findWebhookSender'>;
  readonly deliveries: Pick<DeliveryRepository, 'findUrlHealth'>;
}

/**
 * Returns dependencies for one batch of messages, which are handled concurrently. They read each app and the health of
 * each URL once: the webhooks of one app read the same two partitions, and a partition has 3,000 read units a second.
 */
export const withSharedReads = <T extends ReadDeps>(deps: T): T => ({
  ...deps,
  apps: { ...deps.apps, findWebhookSender: memoize(deps.apps.findWebhookSender) },
  deliveries: { ...deps.deliveries, findUrlHealth: memoize(deps.deliveries.findUrlHealth) },
});
