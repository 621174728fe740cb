import { listEvents } from '../../lib/api/events.ts';
import { events } from '../../lib/deps.ts';
import { toSearchResult } from '../../lib/events/to-event-results.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { fitRowsToResponse } from '../../lib/http/fit-event-rows.ts';

export const handler = createHandler(listEvents, { events })(async ({ app, query }, { events }) => {
  const { limit = 100, skip, offset, startdate, enddate } = query;
  const latestEvents = await events.list(app.name, {
    limit,
    skip: skip ?? offset ?? 0,
    ...(startdate !== undefined && { startdate }),
    ...(enddate !== undefined && { enddate }),
  });
  return { ok: true, rows: fitRowsToResponse(latestEvents.map((event) => toSearchResult(app.name, event))) };
});
