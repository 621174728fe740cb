import type { Context } from 'aws-lambda';
import { emulator } from '../../composition/environment.ts';
import { refreshQueue, webhookQueue } from '../../composition/queues.ts';
import { service } from '../../composition/service.ts';
import { table } from '../../composition/table.ts';
import { createDueItemRepository } from '../../lib/db/due-item-repository.ts';
import { enqueueDueItems } from '../../lib/refresh/enqueue-due-items.ts';
import { once } from '../../lib/shared/once.ts';
import { hourMs } from '../../lib/shared/time.ts';

const deps = once(() => ({
  dueItems: createDueItemRepository(table()),
  ...service(),
  // The emulated clock advances by days, which makes all items late.
  maxLatenessMs: emulator().url ? Number.POSITIVE_INFINITY : hourMs,
  refreshQueue: refreshQueue(),
  webhookQueue: webhookQueue(),
}));

export const handler = async (_event: unknown, context: Context): Promise<void> =>
  await enqueueDueItems(deps(), () => context.getRemainingTimeInMillis());
