import { createHandler } from '../../composition/endpoint.ts';
import { events } from '../../composition/events.ts';
import { getEventAnalysis } from '../../lib/api/events.ts';
import { toAnalysisResult } from '../../lib/events/to-event-results.ts';
import { ServiceError } from '../../lib/shared/errors.ts';

export const handler = createHandler(getEventAnalysis, () => ({ events: events() }))(
  async ({ app, params, query }, { events }) => {
    const [event, raw] = await Promise.all([
      events.find(app.name, params.id),
      query.receipts ? events.findRaw(app.name, params.id) : undefined,
    ]);
    if (!event) throw new ServiceError('ResourceNotFound', 'The event is not found.');
    return toAnalysisResult(app.name, event, raw);
  },
);
