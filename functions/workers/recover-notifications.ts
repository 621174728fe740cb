import type { Context } from 'aws-lambda';
import { getService } from '../../lib/foundation/container.ts';
import { recoverUndelivered } from '../../lib/store-notifications/recover-notifications.ts';

export const handler = async (_event: unknown, context: Context): Promise<void> =>
  await recoverUndelivered(getService(), () => context.getRemainingTimeInMillis());
