import type { Context } from 'aws-lambda';
import { runScheduledExports } from '../../lib/export/run-scheduled-exports.ts';
import { getService } from '../../lib/foundation/get-service.ts';

export const handler = async (_event: unknown, context: Context): Promise<void> =>
  await runScheduledExports(getService(), () => context.getRemainingTimeInMillis());
