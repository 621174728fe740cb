import { getDue } from '../../lib/api/due.ts';
import { deliveries, dueItems, now } from '../../lib/deps.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import type { EpochMillis } from '../../lib/shared/time.ts';
import { getWaitingWebhooks, getWebhookBacklog, listWebhookUrls } from '../../lib/webhooks/webhook-backlog.ts';

const maxReadItems = 1_000;

const toBacklog = (dates: readonly EpochMillis[], isExact: boolean) => ({
  count: dates.length,
  ...(dates.length > 0 && { oldest: new Date(Math.min(...dates)).toISOString() }),
  isExact,
});

export const handler = createHandler(getDue, { deliveries, dueItems, now })(async ({ app }, deps) => {
  const [overdue, waiting, pending, dead, webhookUrls] = await Promise.all([
    deps.dueItems.listOverdueRefreshes(app.name, deps.now(), maxReadItems),
    getWaitingWebhooks(app.name, deps),
    getWebhookBacklog(app.name, 'pending', deps),
    getWebhookBacklog(app.name, 'dead', deps),
    listWebhookUrls(app, deps),
  ]);
  return {
    appName: app.name,
    overdueRefreshes: toBacklog(overdue.dueTimes, overdue.isComplete),
    waitingWebhooks: toBacklog(waiting.dates, waiting.isComplete),
    pendingWebhooks: toBacklog(pending.dates, pending.isComplete),
    deadWebhooks: toBacklog(dead.dates, dead.isComplete),
    webhookUrls,
  };
});
