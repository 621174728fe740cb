import { searchEvents } from '../../lib/api/events.ts';
import { toCursorPage } from '../../lib/api/paging.ts';
import { events } from '../../lib/deps.ts';
import { type EventRecord, isRead } from '../../lib/events/event.ts';
import { toSearchResult } from '../../lib/events/to-event-results.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { fitRowsToResponse } from '../../lib/http/fit-event-rows.ts';
import { toNeutralId } from '../../lib/shared/vocabulary.ts';

const limit = 100;

export const handler = createHandler(searchEvents, { events })(async ({ app, params, query }, { events }) => {
  // The tag can be an id with a brand prefix, or a username that starts with the same token.
  const tags = [params.tag, toNeutralId(params.tag)];
  const { startdate, enddate, cursor } = query;
  const includesReads = query.reads !== 'false';
  const [page, eventById] = await Promise.all([
    events.listPageByTags(app.name, tags, { limit, startdate, enddate, cursor, includesReads }),
    cursor === undefined ? events.find(app.name, params.tag) : undefined,
  ]);
  const isSelected =
    eventById?.reqId === params.tag &&
    (includesReads || !isRead(eventById)) &&
    eventById.date >= (startdate ?? 0) &&
    eventById.date < (enddate ?? Number.POSITIVE_INFINITY);
  const matchingEvents = isSelected ? insertByDate(page.rows, eventById) : page.rows;
  const results = matchingEvents.map((event) => toSearchResult(app.name, event, tags));
  return { ok: true, ...toCursorPage(fitRowsToResponse(results), page.next) };
});

/** Inserts an event into a list of events, newest first. */
const insertByDate = (matchingEvents: readonly EventRecord[], event: EventRecord): EventRecord[] =>
  [event, ...matchingEvents.filter(({ eventId }) => eventId !== event.eventId)].sort((a, b) => b.date - a.date);
