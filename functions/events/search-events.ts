import { searchEvents } from '../../lib/api/events.ts';
import { searchResult } from '../../lib/events/analysis.ts';
import { fittingRows } from '../../lib/events/fitting.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { neutralId } from '../../lib/http/vocabulary.ts';

const mostEvents = 100;

export const handler = endpoint(searchEvents)(async ({ app, params }, { events }) => {
  // A brand word may start an id, or the name of a user who is really called so.
  const tags = [params.tag, neutralId(params.tag)];
  const found = await events.latestWith(app.name, tags, mostEvents);
  return { ok: true, rows: fittingRows(found.map((event) => searchResult(app.name, event, tags))) };
});
