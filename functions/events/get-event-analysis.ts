import { getEventAnalysis } from '../../lib/events/contract.ts';
import { findEvent, findRawEvent } from '../../lib/events/event-table.ts';
import { toAnalysisResult } from '../../lib/events/to-event-results.ts';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(getEventAnalysis)(async ({ app, params, query }, service) => {
  const [event, raw] = await Promise.all([
    findEvent(service, app.name, params.id),
    query.receipts ? findRawEvent(service, app.name, params.id) : undefined,
  ]);
  if (!event) throw new ServiceError('ResourceNotFound', 'The event is not found.');
  return toAnalysisResult(app.name, event, raw);
});
