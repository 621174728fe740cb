import type { App } from '../apps/app.ts';
import type { Service } from '../foundation/service.ts';
import { type EpochMillis, toIso } from '../foundation/time.ts';
import { listOverdueRefreshes } from '../refresh/due-item-table.ts';
import { readCountedUntil } from '../statistics/counted-until-table.ts';
import {
  getWebhookBacklog,
  listNewestDeliveries,
  listWebhookUrls,
  selectWaitingWebhooks,
} from '../webhooks/webhook-backlog.ts';

const maxReadItems = 1_000;

const toBacklog = (dates: readonly EpochMillis[], isExact: boolean) => ({
  count: dates.length,
  ...(dates.length > 0 && { oldest: toIso(Math.min(...dates)) }),
  isExact,
});

/** Reads the work of an app that is late or failed, and the health of its webhook URLs. */
export async function readBacklogs(service: Service, app: App) {
  const [countedUntil, overdue, newest, pending, dead, numFailures] = await Promise.all([
    // A schedule that never ran wrote no marker.
    readCountedUntil(service, app.createdAt),
    listOverdueRefreshes(service, app.name, service.now(), maxReadItems),
    listNewestDeliveries(service, app.name),
    getWebhookBacklog(service, app.name, 'pending'),
    getWebhookBacklog(service, app.name, 'dead'),
    service.countStreamFailures?.(),
  ]);
  const waiting = selectWaitingWebhooks(newest);
  return {
    countedUntil,
    overdueRefreshes: toBacklog(overdue.dueTimes, overdue.isComplete),
    waitingWebhooks: toBacklog(waiting.dates, waiting.isComplete),
    pendingWebhooks: toBacklog(pending.dates, pending.isComplete),
    deadWebhooks: toBacklog(dead.dates, dead.isComplete),
    ...(numFailures !== undefined && { streamFailures: { count: numFailures, isExact: true } }),
    webhookUrls: await listWebhookUrls(service, app, newest),
  };
}
