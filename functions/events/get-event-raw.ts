import { getEventRaw } from '../../lib/api/events.ts';
import { ServiceError } from '../../lib/errors.ts';
import { rawResult } from '../../lib/events/raw-result.ts';
import { endpoint } from '../../lib/http/endpoint.ts';

export const handler = endpoint(getEventRaw)(async ({ app, params }, { events }) => {
  const [event, raw] = await Promise.all([events.find(app.name, params.id), events.findRaw(app.name, params.id)]);
  if (!event) throw new ServiceError('ResourceNotFound', 'There is no such event.');
  return rawResult(event, raw);
});
