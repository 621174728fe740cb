import { getEvent } from '../../lib/api/events.ts';
import { ServiceError } from '../../lib/errors.ts';
import { analysis } from '../../lib/events/analysis.ts';
import { rawResult } from '../../lib/events/raw-result.ts';
import { endpoint } from '../../lib/http/endpoint.ts';

export const handler = endpoint(getEvent)(async ({ app, params, query }, { events }) => {
  const [event, raw] = await Promise.all([events.find(app.name, params.id), events.findRaw(app.name, params.id)]);
  if (!event) throw new ServiceError('ResourceNotFound', 'There is no such event.');
  const isDetailed = query.receipts === 'true';
  return {
    analysis: analysis(app.name, event, isDetailed ? raw : undefined),
    raw: rawResult(event, raw),
  };
});
