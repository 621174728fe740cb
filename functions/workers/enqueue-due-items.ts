import type { Context } from 'aws-lambda';
import { dueItems, now, provideDeps, refreshQueue, webhookQueue } from '../../lib/deps.ts';
import { enqueueDueItems } from '../../lib/refresh/enqueue-due-items.ts';

const deps = provideDeps({ dueItems, now, refreshQueue, webhookQueue });

export const handler = async (_event: unknown, context: Context): Promise<void> =>
  await enqueueDueItems(deps, () => context.getRemainingTimeInMillis());
