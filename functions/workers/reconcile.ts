import type { Context } from 'aws-lambda';
import { deps } from '../../lib/deps.ts';
import { reconcile } from '../../lib/incoming/reconcile.ts';

export const handler = async (_event: unknown, context: Context): Promise<void> =>
  await reconcile(deps(), () => context.getRemainingTimeInMillis());
