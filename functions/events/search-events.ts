import { toCursorPage } from '../../lib/api/paging.ts';
import { searchEvents } from '../../lib/events/contract.ts';
import { listEventPageByTags } from '../../lib/events/event-list-table.ts';
import { toSearchResult } from '../../lib/events/to-event-results.ts';
import { toNeutralId } from '../../lib/foundation/vocabulary.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { fitRowsToResponse } from '../../lib/http/fit-event-rows.ts';

const limit = 100;

export const handler = createHandler(searchEvents)(async ({ app, params, query }, service) => {
  // The tag can be an id with a brand prefix, or a username that starts with the same token.
  const tags = [params.tag, toNeutralId(params.tag)];
  const { startdate, enddate, cursor } = query;
  const page = await listEventPageByTags(service, app.name, tags, {
    limit,
    startdate,
    enddate,
    cursor,
    includesReads: query.reads !== 'false',
    reqId: params.tag,
  });
  const results = page.rows.map((event) => toSearchResult(app.name, event, tags));
  return { ok: true, ...toCursorPage(fitRowsToResponse(results), page.next) };
});
