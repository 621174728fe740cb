import { createHandler } from '../../composition/endpoint.ts';
import { events } from '../../composition/events.ts';
import { searchEvents } from '../../lib/api/events.ts';
import { toCursorPage } from '../../lib/api/paging.ts';
import { toSearchResult } from '../../lib/events/to-event-results.ts';
import { fitRowsToResponse } from '../../lib/http/fit-event-rows.ts';
import { toNeutralId } from '../../lib/shared/vocabulary.ts';

const limit = 100;

export const handler = createHandler(searchEvents, () => ({ events: events() }))(
  async ({ app, params, query }, { events }) => {
    // The tag can be an id with a brand prefix, or a username that starts with the same token.
    const tags = [params.tag, toNeutralId(params.tag)];
    const { startdate, enddate, cursor } = query;
    const page = await events.listPageByTags(app.name, tags, {
      limit,
      startdate,
      enddate,
      cursor,
      includesReads: query.reads !== 'false',
      reqId: params.tag,
    });
    const results = page.rows.map((event) => toSearchResult(app.name, event, tags));
    return { ok: true, ...toCursorPage(fitRowsToResponse(results), page.next) };
  },
);
