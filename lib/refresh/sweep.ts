import type { Due } from '../db/keys.ts';
import type { Deps } from '../deps.ts';

/** Taken at a time. A queue call carries ten, so this many take a second or two. */
const batch = 400;
/** Time that a batch must be left, so that what was taken is also sent. */
const neededMs = 20_000;

/** Sends what is due on its way, oldest first, until nothing is left or the time is up. */
export async function sweep(deps: Deps, remainingMs: () => number): Promise<void> {
  for (;;) {
    const due = await deps.dueItems.take(deps.now(), batch);
    await sendOn(due, deps);
    if (due.length < batch / 2 || remainingMs() < neededMs) return;
  }
}

async function sendOn(due: readonly Due[], { refreshesQueue, webhooksQueue }: Deps): Promise<void> {
  const purchases = due.filter((one) => one.kind === 'purchase');
  await refreshesQueue.send(purchases.map(({ app, purchaseId }) => ({ app, purchaseId })));
  const deliveries = due.filter((one) => one.kind === 'delivery');
  const apps = [...new Set(deliveries.map(({ app }) => app))];
  await Promise.all(
    apps.map(async (group) => {
      const own = deliveries.filter(({ app }) => app === group);
      const orders = own.map(({ app, deliveryId }) => ({ app, deliveryId }));
      await webhooksQueue.send(orders, { group });
    }),
  );
}
