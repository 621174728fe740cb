import type { MessageQueue } from '../shared/message-queue.ts';
import type { EpochMillis } from '../shared/time.ts';
import { secondMs } from '../shared/time.ts';
import type { WebhookMessage } from '../webhooks/webhook-message.ts';
import type { DueItemRepository } from './due-item-repository.ts';
import type { RefreshMessage } from './refresh-message.ts';

/** Items leased at once: a batch takes less than a second. */
const batchSize = 400;
/** Time that leasing and enqueueing a batch may take. */
const minRemainingMs = 10 * secondMs;

interface EnqueueDeps {
  readonly dueItems: DueItemRepository;
  now(): EpochMillis;
  readonly refreshQueue: MessageQueue<RefreshMessage>;
  readonly webhookQueue: MessageQueue<WebhookMessage>;
}
type DueItem = Awaited<ReturnType<DueItemRepository['lease']>>[number];

/** Leases the due items, oldest first, and enqueues them until less than half a batch is due or the time is over. */
export async function enqueueDueItems(deps: EnqueueDeps, remainingMs: () => number): Promise<void> {
  for (;;) {
    const items = await deps.dueItems.lease(deps.now(), batchSize);
    await enqueue(items, deps);
    if (items.length < batchSize / 2 || remainingMs() < minRemainingMs) return;
  }
}

async function enqueue(items: readonly DueItem[], { refreshQueue, webhookQueue }: EnqueueDeps): Promise<void> {
  const purchases = items.filter((item) => item.kind === 'purchase');
  await refreshQueue.send(purchases.map(({ appName, purchaseId }) => ({ appName, purchaseId })));
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
