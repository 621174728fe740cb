import { searchEvents } from '../../lib/api/events.ts';
import { searchResult } from '../../lib/events/analysis.ts';
import type { EventRecord } from '../../lib/events/event.ts';
import { fittingRows } from '../../lib/events/fitting.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { neutralId } from '../../lib/http/vocabulary.ts';

const mostEvents = 100;

export const handler = endpoint(searchEvents)(async ({ app, params }, { events }) => {
  // A brand word may start an id, or the name of a user who is really called so.
  const tags = [params.tag, neutralId(params.tag)];
  const [tagged, known] = await Promise.all([
    events.latestWith(app.name, tags, mostEvents),
    events.find(app.name, params.tag),
  ]);
  const found = known?.reqId === params.tag ? withEvent(tagged, known) : tagged;
  return { ok: true, rows: fittingRows(found.map((event) => searchResult(app.name, event, tags))) };
});

/** The events, newest first, with another one at its place. */
const withEvent = (found: readonly EventRecord[], event: EventRecord): EventRecord[] =>
  [event, ...found.filter(({ eventId }) => eventId !== event.eventId)]
    .sort((a, b) => b.date - a.date)
    .slice(0, mostEvents);
