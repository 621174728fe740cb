import { getEvent } from '../../lib/events/contract.ts';
import { findEvent, findRawEvent } from '../../lib/events/event-table.ts';
import { toAnalysisResult } from '../../lib/events/to-event-results.ts';
import { toRawResult } from '../../lib/events/to-raw-result.ts';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(getEvent)(async ({ app, params, query }, service) => {
  const [event, raw] = await Promise.all([
    findEvent(service, app.name, params.id),
    findRawEvent(service, app.name, params.id),
  ]);
  if (!event) throw new ServiceError('ResourceNotFound', 'The event is not found.');
  const isDetailed = query.receipts === 'true';
  return {
    analysis: toAnalysisResult(app.name, event, isDetailed ? raw : undefined),
    raw: toRawResult(event, raw),
  };
});
