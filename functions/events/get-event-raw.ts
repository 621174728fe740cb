import { createHandler } from '../../composition/endpoint.ts';
import { events } from '../../composition/events.ts';
import { getEventRaw } from '../../lib/api/events.ts';
import { toRawResult } from '../../lib/events/to-raw-result.ts';
import { ServiceError } from '../../lib/shared/errors.ts';

export const handler = createHandler(getEventRaw, () => ({ events: events() }))(async ({ app, params }, { events }) => {
  const [event, raw] = await Promise.all([events.find(app.name, params.id), events.findRaw(app.name, params.id)]);
  if (!event) throw new ServiceError('ResourceNotFound', 'The event is not found.');
  return toRawResult(event, raw);
});
