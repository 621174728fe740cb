import type { Context } from 'aws-lambda';
import { deps } from '../../lib/deps.ts';
import { recoverUndelivered } from '../../lib/store-notifications/recover-notifications.ts';

export const handler = async (_event: unknown, context: Context): Promise<void> =>
  await recoverUndelivered(deps(), () => context.getRemainingTimeInMillis());
