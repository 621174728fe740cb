import { createHandler } from '../../composition/endpoint.ts';
import { events } from '../../composition/events.ts';
import { getEvent } from '../../lib/api/events.ts';
import { toAnalysisResult } from '../../lib/events/to-event-results.ts';
import { toRawResult } from '../../lib/events/to-raw-result.ts';
import { ServiceError } from '../../lib/shared/errors.ts';

export const handler = createHandler(getEvent, () => ({ events: events() }))(
  async ({ app, params, query }, { events }) => {
    const [event, raw] = await Promise.all([events.find(app.name, params.id), events.findRaw(app.name, params.id)]);
    if (!event) throw new ServiceError('ResourceNotFound', 'The event is not found.');
    const isDetailed = query.receipts === 'true';
    return {
      analysis: toAnalysisResult(app.name, event, isDetailed ? raw : undefined),
      raw: toRawResult(event, raw),
    };
  },
);
