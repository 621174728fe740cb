import type { Context } from 'aws-lambda';
import { getService } from '../../lib/foundation/container.ts';
import { pollNotifications } from '../../lib/store-notifications/recover-notifications.ts';

export const handler = async (_event: unknown, context: Context): Promise<void> =>
  await pollNotifications(getService(), () => context.getRemainingTimeInMillis());
