import pMap from 'p-map';
import { endCredits } from '../credits/credit-table.ts';
import { announceGrantEnd } from '../entitlements/grant-table.ts';
import { groupBy } from '../foundation/collections.ts';
import { ServiceError } from '../foundation/errors.ts';
import { catchFailure, logError } from '../foundation/log.ts';
import type { Service } from '../foundation/service.ts';
import { hourMs, minuteMs, secondMs, toIso } from '../foundation/time.ts';
import { type ListedItem, leaseDueItem, listDueItems } from './due-item-table.ts';
import { createRefreshBudget, type RefreshBudget } from './refresh-budget.ts';
import type { RefreshMessage } from './refresh-message.ts';

/** An item that is still due after it, for example because its message was lost, is enqueued again. */
const leaseMs = 10 * minuteMs;

/** Items leased at once: a batch takes less than a second. */
const batchSize = 400;

/** Number of grants, and of accounts of credits, that are written concurrently. */
const concurrency = 25;

/** Time that leasing and enqueueing a batch may take. */
const minRemainingMs = 10 * secondMs;

/** Age from which due items are logged as `DueItemsLate`, which an alarm counts. */
const maxLatenessMs = hourMs;

type Purchase = Extract<ListedItem, { readonly kind: 'purchase' }>;

/**
 * Leases the due items, oldest first, enqueues refreshes and webhooks, and writes the ends of grants and credits, until
 * less than half a batch is due or the time is over. Refreshes above the budget of an app at a store are not enqueued:
 * they are due again after their lease, and interval checks at the next one. A check is enqueued before its lease: see
 * docs/decisions/write-units.md. Logs once if items are late.
 */
export async function enqueueDueItems(service: Service, remainingMs: () => number): Promise<void> {
  const budget = createRefreshBudget();
  const repeated = new Set<string>();
  let isReported = false;
  for (;;) {
    const listed = await listDueItems(service, service.now(), batchSize);
    if (!isReported) isReported = reportLateItems(service, listed);
    const items = await leaseItems(
      service,
      listed.filter((item) => !isPostponable(item)),
    );
    await enqueueRefreshes(service, items.filter(isPurchase), budget);
    await enqueueRefundRequests(service, items);
    await enqueueDeliveries(service, items);
    await announceEnds(service, items);
    // The index can list an item again after its lease.
    const checks = listed.filter(isPostponable).filter(({ indexKey }) => !repeated.has(indexKey.pk));
    for (const { indexKey } of checks) repeated.add(indexKey.pk);
    await enqueueChecks(service, checks, budget);
    if (items.length + checks.length < batchSize / 2 || remainingMs() < minRemainingMs) return;
  }
}

const isPurchase = (item: ListedItem): item is Purchase => item.kind === 'purchase';

type PostponableCheck = Purchase & Required<Pick<ListedItem, 'postponedTo'>>;

const isPostponable = (item: ListedItem): item is PostponableCheck =>
  isPurchase(item) && item.postponedTo !== undefined;

/** Leases the items for ten minutes. Returns those that no other worker has leased. */
async function leaseItems(service: Service, items: readonly ListedItem[]): Promise<ListedItem[]> {
  const until = service.now() + leaseMs;
  const isLeased = await Promise.all(items.map(async (item) => await leaseDueItem(service, item, until)));
  return items.filter((_item, index) => isLeased[index]);
}

/**
 * Enqueues the checks within the budget, then leases them until the next check, so that the refresh does not move them
 * again. In this order, a crash between both repeats a check and loses none. The others are postponed: if they stayed
 * due, a growing backlog of them would delay renewals.
 */
async function enqueueChecks(
  service: Service,
  checks: readonly PostponableCheck[],
  budget: RefreshBudget,
): Promise<void> {
  const enqueued = await enqueueRefreshes(service, checks, budget);
  await Promise.all(
    checks.map(async (check) => {
      const { nextCheckAt = service.now() + leaseMs, postponedTo } = check;
      await leaseDueItem(service, check, enqueued.has(check) ? nextCheckAt : postponedTo);
    }),
  );
}

/** Logs the oldest item if it is late. Returns whether it is. */
function reportLateItems({ emulator, now }: Service, items: readonly ListedItem[]): boolean {
  const oldest = items.toSorted((a, b) => a.dueAt - b.dueAt)[0];
  // The emulated clock advances by days, which makes all items late.
  if (!oldest || emulator.url || now() - oldest.dueAt <= maxLatenessMs) return false;
  const since = toIso(oldest.dueAt);
  const failure = new ServiceError(
    'InternalError',
    `A ${oldest.kind} of ${oldest.appName} has been due since ${since}.`,
  );
  logError({ worker: 'enqueue-due-items', problem: 'DueItemsLate', app: oldest.appName }, failure);
  return true;
}

/**
 * Announces the ends of grants and credits. A failure is logged, and is repeated after the lease: one unreadable item
 * must not delay the others.
 */
async function announceEnds(service: Service, items: readonly ListedItem[]): Promise<void> {
  const announceEnd = async (item: ListedItem): Promise<void> => {
    if (item.kind === 'grant') await announceGrantEnd(service, item, service.now());
    else if (item.kind === 'credits') await endCredits(service, item);
  };
  await pMap(
    items,
    async (item) =>
      await catchFailure({ worker: 'enqueue-due-items', app: item.appName }, async () => await announceEnd(item)),
    { concurrency },
  );
}

/**
 * Enqueues the refreshes within the budget, renewals first, spread over the time until the next run. Returns those that
 * it has enqueued.
 */
async function enqueueRefreshes(
  { refreshQueue }: Service,
  refreshes: readonly Purchase[],
  budget: RefreshBudget,
): Promise<ReadonlySet<Purchase>> {
  const renewalsFirst = refreshes.toSorted((a, b) => Number(a.isIntervalCheck ?? 0) - Number(b.isIntervalCheck ?? 0));
  const enqueued = renewalsFirst.flatMap((refresh) => {
    const delaySeconds = budget.take(refresh);
    return delaySeconds === undefined ? [] : [{ refresh, delaySeconds }];
  });
  for (const [delaySeconds, group] of groupBy(enqueued, (refresh) => refresh.delaySeconds)) {
    const messages = group.map(({ refresh: { appName, purchaseId } }): RefreshMessage => ({ appName, purchaseId }));
    await refreshQueue.send(messages, { delaySeconds });
  }
  return new Set(enqueued.map(({ refresh }) => refresh));
}

async function enqueueRefundRequests({ refreshQueue }: Service, items: readonly ListedItem[]): Promise<void> {
  const requests = items.filter((item) => item.kind === 'refundRequest');
  if (requests.length === 0) return;
  await refreshQueue.send(requests.map(({ appName, requestId }) => ({ appName, refundRequestId: requestId })));
}

async function enqueueDeliveries({ webhookQueue }: Service, items: readonly ListedItem[]): Promise<void> {
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
