import type { Context } from 'aws-lambda';
import { deps } from '../../lib/deps.ts';
import { collect } from '../../lib/incoming/reconcile.ts';

export const handler = async (_event: unknown, context: Context): Promise<void> =>
  await collect(deps(), () => context.getRemainingTimeInMillis());
