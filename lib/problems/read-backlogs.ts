import type { App } from '../apps/app.ts';
import type { DueItemRepository } from '../refresh/due-item-repository.ts';
import type { EpochMillis } from '../shared/time.ts';
import type { DeliveryRepository } from '../webhooks/delivery-repository.ts';
import {
  getWebhookBacklog,
  listNewestDeliveries,
  listWebhookUrls,
  selectWaitingWebhooks,
} from '../webhooks/webhook-backlog.ts';

export interface BacklogDeps {
  readonly deliveries: DeliveryRepository;
  readonly dueItems: Pick<DueItemRepository, 'listOverdueRefreshes'>;
  now(): EpochMillis;
}

const maxReadItems = 1_000;

const toBacklog = (dates: readonly EpochMillis[], isExact: boolean) => ({
  count: dates.length,
  ...(dates.length > 0 && { oldest: new Date(Math.min(...dates)).toISOString() }),
  isExact,
});

/** Reads the work of an app that is late or failed, and the health of its webhook URLs. */
export async function readBacklogs(app: App, deps: BacklogDeps) {
  const [overdue, newest, pending, dead] = await Promise.all([
    deps.dueItems.listOverdueRefreshes(app.name, deps.now(), maxReadItems),
    listNewestDeliveries(app.name, deps),
    getWebhookBacklog(app.name, 'pending', deps),
    getWebhookBacklog(app.name, 'dead', deps),
  ]);
  const waiting = selectWaitingWebhooks(newest);
  return {
    overdueRefreshes: toBacklog(overdue.dueTimes, overdue.isComplete),
    waitingWebhooks: toBacklog(waiting.dates, waiting.isComplete),
    pendingWebhooks: toBacklog(pending.dates, pending.isComplete),
    deadWebhooks: toBacklog(dead.dates, dead.isComplete),
    webhookUrls: await listWebhookUrls(app, newest, deps),
  };
}
