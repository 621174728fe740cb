import { searchEvents } from '../../lib/api/events.ts';
import { events } from '../../lib/deps.ts';
import type { EventRecord } from '../../lib/events/event.ts';
import { toSearchResult } from '../../lib/events/to-event-results.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { fitRowsToResponse } from '../../lib/http/fit-event-rows.ts';
import { toNeutralId } from '../../lib/shared/vocabulary.ts';

const maxEvents = 100;

export const handler = createHandler(searchEvents, { events })(async ({ app, params }, { events }) => {
  // The tag can be an id with a brand prefix, or a username that starts with the same token.
  const tags = [params.tag, toNeutralId(params.tag)];
  const [taggedEvents, eventById] = await Promise.all([
    events.listByTags(app.name, tags, maxEvents),
    events.find(app.name, params.tag),
  ]);
  const matchingEvents = eventById?.reqId === params.tag ? insertByDate(taggedEvents, eventById) : taggedEvents;
  return { ok: true, rows: fitRowsToResponse(matchingEvents.map((event) => toSearchResult(app.name, event, tags))) };
});

/** Inserts an event into a list of events, newest first. */
const insertByDate = (matchingEvents: readonly EventRecord[], event: EventRecord): EventRecord[] =>
  [event, ...matchingEvents.filter(({ eventId }) => eventId !== event.eventId)]
    .sort((a, b) => b.date - a.date)
    .slice(0, maxEvents);
