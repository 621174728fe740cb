import { searchEvents } from '../../lib/api/events.ts';
import type { EventRecord } from '../../lib/events/event.ts';
import { toSearchResult } from '../../lib/events/to-event-results.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { fitRowsToResponse } from '../../lib/http/fit-event-rows.ts';
import { toNeutralId } from '../../lib/shared/vocabulary.ts';

const maxEvents = 100;

export const handler = createHandler(searchEvents)(async ({ app, params }, { events }) => {
  // A brand word may start an id, or the name of a user who is really called so.
  const tags = [params.tag, toNeutralId(params.tag)];
  const [tagged, known] = await Promise.all([
    events.listByTags(app.name, tags, maxEvents),
    events.find(app.name, params.tag),
  ]);
  const matchingEvents = known?.reqId === params.tag ? insertByDate(tagged, known) : tagged;
  return { ok: true, rows: fitRowsToResponse(matchingEvents.map((event) => toSearchResult(app.name, event, tags))) };
});

/** The events, newest first, with another one at its place. */
const insertByDate = (matchingEvents: readonly EventRecord[], event: EventRecord): EventRecord[] =>
  [event, ...matchingEvents.filter(({ eventId }) => eventId !== event.eventId)]
    .sort((a, b) => b.date - a.date)
    .slice(0, maxEvents);
