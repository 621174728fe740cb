import type { Context } from 'aws-lambda';
import { deps } from '../../lib/deps.ts';
import { enqueueDueItems } from '../../lib/refresh/enqueue-due-items.ts';

export const handler = async (_event: unknown, context: Context): Promise<void> =>
  await enqueueDueItems(deps(), () => context.getRemainingTimeInMillis());
