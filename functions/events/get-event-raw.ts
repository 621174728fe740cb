import { getEventRaw } from '../../lib/events/contract.ts';
import { findEvent, findRawEvent } from '../../lib/events/event-table.ts';
import { toRawResult } from '../../lib/events/to-raw-result.ts';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(getEventRaw)(async ({ app, params }, service) => {
  const [event, raw] = await Promise.all([
    findEvent(service, app.name, params.id),
    findRawEvent(service, app.name, params.id),
  ]);
  if (!event) throw new ServiceError('ResourceNotFound', 'The event is not found.');
  return toRawResult(event, raw);
});
