import type { DueItem } from '../db/keys.ts';
import type { Deps } from '../deps.ts';

/** Taken at a time. A queue call carries ten, so this many take a second or two. */
const batchSize = 400;
/** Time that a batch must be left, so that what was taken is also sent. */
const minRemainingMs = 20_000;

/** Sends what is due on its way, oldest first, until nothing is left or the time is up. */
export async function enqueueDueItems(deps: Deps, remainingMs: () => number): Promise<void> {
  for (;;) {
    const due = await deps.dueItems.lease(deps.now(), batchSize);
    await enqueue(due, deps);
    if (due.length < batchSize / 2 || remainingMs() < minRemainingMs) return;
  }
}

async function enqueue(due: readonly DueItem[], { refreshQueue, webhookQueue }: Deps): Promise<void> {
  const purchases = due.filter((item) => item.kind === 'purchase');
  await refreshQueue.send(purchases.map(({ appName, purchaseId }) => ({ appName, purchaseId })));
  const deliveries = due.filter((item) => item.kind === 'delivery');
  const apps = [...new Set(deliveries.map(({ appName }) => appName))];
  await Promise.all(
    apps.map(async (group) => {
      const own = deliveries.filter(({ appName }) => appName === group);
      const messages = own.map(({ appName, deliveryId }) => ({ appName, deliveryId }));
      await webhookQueue.send(messages, { group });
    }),
  );
}
