import { toCursorPage } from '../../lib/api/paging.ts';
import { listEvents } from '../../lib/events/contract.ts';
import { listEventPage } from '../../lib/events/event-list-table.ts';
import { toSearchResult } from '../../lib/events/to-event-results.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { fitRowsToResponse } from '../../lib/http/fit-event-rows.ts';

export const handler = createHandler(listEvents)(async ({ app, query }, service) => {
  const { limit = 100, skip, offset, startdate, enddate, reads, cursor } = query;
  const { rows, next } = await listEventPage(service, app.name, {
    limit,
    skip: skip ?? offset ?? 0,
    startdate,
    enddate,
    cursor,
    includesReads: reads !== 'false',
  });
  const results = rows.map((event) => toSearchResult(app.name, event));
  return { ok: true, ...toCursorPage(fitRowsToResponse(results), next) };
});
