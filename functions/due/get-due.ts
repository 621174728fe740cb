import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { table } from '../../composition/table.ts';
import { getDue } from '../../lib/api/due.ts';
import { createDeliveryRepository } from '../../lib/db/delivery-repository.ts';
import { createDueItemRepository } from '../../lib/db/due-item-repository.ts';
import type { EpochMillis } from '../../lib/shared/time.ts';
import {
  getWebhookBacklog,
  listNewestDeliveries,
  listWebhookUrls,
  selectWaitingWebhooks,
} from '../../lib/webhooks/webhook-backlog.ts';

const maxReadItems = 1_000;

const toBacklog = (dates: readonly EpochMillis[], isExact: boolean) => ({
  count: dates.length,
  ...(dates.length > 0 && { oldest: new Date(Math.min(...dates)).toISOString() }),
  isExact,
});

export const handler = createHandler(getDue, () => ({
  deliveries: createDeliveryRepository(table()),
  dueItems: createDueItemRepository(table()),
  now,
}))(async ({ app }, deps) => {
  const [overdue, newest, pending, dead] = await Promise.all([
    deps.dueItems.listOverdueRefreshes(app.name, deps.now(), maxReadItems),
    listNewestDeliveries(app.name, deps),
    getWebhookBacklog(app.name, 'pending', deps),
    getWebhookBacklog(app.name, 'dead', deps),
  ]);
  const waiting = selectWaitingWebhooks(newest);
  return {
    appName: app.name,
    overdueRefreshes: toBacklog(overdue.dueTimes, overdue.isComplete),
    waitingWebhooks: toBacklog(waiting.dates, waiting.isComplete),
    pendingWebhooks: toBacklog(pending.dates, pending.isComplete),
    deadWebhooks: toBacklog(dead.dates, dead.isComplete),
    webhookUrls: await listWebhookUrls(app, newest, deps),
  };
});
