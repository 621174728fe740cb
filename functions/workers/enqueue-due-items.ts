import type { Context } from 'aws-lambda';
import { getService } from '../../lib/foundation/get-service.ts';
import { enqueueDueItems } from '../../lib/refresh/enqueue-due-items.ts';
import { writeMarkers } from '../../lib/statistics/counted-until-table.ts';

export const handler = async (_event: unknown, context: Context): Promise<void> => {
  await enqueueDueItems(getService(), () => context.getRemainingTimeInMillis());
  await writeMarkers(getService());
};
