import pMap from 'p-map';
import type { GrantRepository } from '../entitlements/grant-repository.ts';
import { ServiceError } from '../shared/errors.ts';
import { logError } from '../shared/log.ts';
import type { MessageQueue } from '../shared/message-queue.ts';
import type { EpochMillis } from '../shared/time.ts';
import { secondMs } from '../shared/time.ts';
import type { WebhookMessage } from '../webhooks/webhook-message.ts';
import type { DueItemRepository } from './due-item-repository.ts';
import { createRefreshBudget, type RefreshBudget } from './refresh-budget.ts';
import type { RefreshMessage } from './refresh-message.ts';

/** Items leased at once: a batch takes less than a second. */
const batchSize = 400;
/** Number of grants that are written concurrently. */
const concurrency = 25;
/** Time that leasing and enqueueing a batch may take. */
const minRemainingMs = 10 * secondMs;

interface EnqueueDeps {
  readonly dueItems: DueItemRepository;
  readonly grants: Pick<GrantRepository, 'announceEnd'>;
  /** Age from which due items are logged as `DueItemsLate`, which an alarm counts. */
  readonly maxLatenessMs: number;
  now(): EpochMillis;
  readonly refreshQueue: MessageQueue<RefreshMessage>;
  readonly webhookQueue: MessageQueue<WebhookMessage>;
}
type DueItem = Awaited<ReturnType<DueItemRepository['lease']>>[number];

/**
 * Leases the due items, oldest first, enqueues refreshes and webhooks, and announces the ends of grants, until less
 * than half a batch is due or the time is over. Refreshes above the budget of an app at a store are not enqueued: they
 * are due again after their lease. Logs once if items are late.
 */
export async function enqueueDueItems(deps: EnqueueDeps, remainingMs: () => number): Promise<void> {
  const budget = createRefreshBudget();
  let isReported = false;
  for (;;) {
    const items = await deps.dueItems.lease(deps.now(), batchSize);
    if (!isReported) isReported = reportLateItems(items, deps);
    await enqueueRefreshes(items, budget, deps);
    await enqueueRefundRequests(items, deps);
    await enqueueDeliveries(items, deps);
    await announceEnds(items, deps);
    if (items.length < batchSize / 2 || remainingMs() < minRemainingMs) return;
  }
}

/** Logs the oldest item if it is late. Returns whether it is. */
function reportLateItems(items: readonly DueItem[], { maxLatenessMs, now }: EnqueueDeps): boolean {
  const oldest = items.toSorted((a, b) => a.dueAt - b.dueAt)[0];
  if (!oldest || now() - oldest.dueAt <= maxLatenessMs) return false;
  const since = new Date(oldest.dueAt).toISOString();
  const failure = new ServiceError(
    'InternalError',
    `A ${oldest.kind} of ${oldest.appName} has been due since ${since}.`,
  );
  logError({ worker: 'enqueue-due-items', problem: 'DueItemsLate', app: oldest.appName }, failure);
  return true;
}

/** Announces the ends of grants. */
async function announceEnds(items: readonly DueItem[], { grants, now }: EnqueueDeps): Promise<void> {
  const ended = items.filter((item) => item.kind === 'grant');
  await pMap(ended, async (grant) => await grants.announceEnd(grant, now()), { concurrency });
}

/** Enqueues the refreshes within the budget, renewals first, spread over the time until the next run. */
async function enqueueRefreshes(
  items: readonly DueItem[],
  budget: RefreshBudget,
  { refreshQueue }: EnqueueDeps,
): Promise<void> {
  const refreshes = items.filter((item) => item.kind === 'purchase');
  const renewalsFirst = refreshes.toSorted((a, b) => Number(a.isIntervalCheck ?? 0) - Number(b.isIntervalCheck ?? 0));
  const messagesByDelay = new Map<number, RefreshMessage[]>();
  for (const refresh of renewalsFirst) {
    const delaySeconds = budget.take(refresh);
    if (delaySeconds === undefined) continue;
    const { appName, purchaseId } = refresh;
    messagesByDelay.set(delaySeconds, [...(messagesByDelay.get(delaySeconds) ?? []), { appName, purchaseId }]);
  }
  for (const [delaySeconds, messages] of messagesByDelay) await refreshQueue.send(messages, { delaySeconds });
}

async function enqueueRefundRequests(items: readonly DueItem[], { refreshQueue }: EnqueueDeps): Promise<void> {
  const requests = items.filter((item) => item.kind === 'refundRequest');
  if (requests.length === 0) return;
  await refreshQueue.send(requests.map(({ appName, requestId }) => ({ appName, refundRequestId: requestId })));
}

async function enqueueDeliveries(items: readonly DueItem[], { webhookQueue }: EnqueueDeps): Promise<void> {
  const deliveries = items.filter((item) => item.kind === 'delivery');
  const appNames = [...new Set(deliveries.map(({ appName }) => appName))];
  await Promise.all(
    appNames.map(async (group) => {
      const ownDeliveries = deliveries.filter(({ appName }) => appName === group);
      const messages = ownDeliveries.map(({ appName, deliveryId }) => ({ appName, deliveryId }));
      await webhookQueue.send(messages, { group });
    }),
  );
}
