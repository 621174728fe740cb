import type { Context } from 'aws-lambda';
import { deps } from '../../lib/deps.ts';
import { pollNotifications } from '../../lib/store-notifications/recover-notifications.ts';

export const handler = async (_event: unknown, context: Context): Promise<void> =>
  await pollNotifications(deps(), () => context.getRemainingTimeInMillis());
