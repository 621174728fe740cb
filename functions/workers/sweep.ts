import type { Context } from 'aws-lambda';
import { deps } from '../../lib/deps.ts';
import { sweep } from '../../lib/refresh/sweep.ts';

export const handler = async (_event: unknown, context: Context): Promise<void> =>
  await sweep(deps(), () => context.getRemainingTimeInMillis());
