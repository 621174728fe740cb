import type { AppRepository } from '../apps/app-repository.ts';
import type { OwnedPurchaseRepository } from '../purchases/owned-purchase-repository.ts';
import { memoize } from '../shared/memoize.ts';
import type { AttemptDeps } from './attempt-delivery.ts';
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

interface CustomerDeps {
  readonly listGrants: AttemptDeps['listGrants'];
  readonly ownedPurchases: Pick<OwnedPurchaseRepository, 'listRepresentativePurchases'>;
}

/**
 * Returns dependencies for one batch of messages that read the purchases and grants of each customer once. A validation
 * often announces several changes of one customer, and all of them were stored before the batch was received.
 */
export const withSharedCustomers = <T extends CustomerDeps>(deps: T): T => ({
  ...deps,
  listGrants: memoize(deps.listGrants),
  ownedPurchases: {
    ...deps.ownedPurchases,
    listRepresentativePurchases: memoize(deps.ownedPurchases.listRepresentativePurchases),
  },
});
