import { listEvents } from '../../lib/api/events.ts';
import { searchResult } from '../../lib/events/analysis.ts';
import { fittingRows } from '../../lib/events/fitting.ts';
import { endpoint } from '../../lib/http/endpoint.ts';

export const handler = endpoint(listEvents)(async ({ app, query }, { events }) => {
  const { limit = 100, skip, offset, startdate, enddate } = query;
  const latest = await events.list(app.name, {
    limit,
    skip: skip ?? offset ?? 0,
    ...(startdate !== undefined && { startdate }),
    ...(enddate !== undefined && { enddate }),
  });
  return { ok: true, rows: fittingRows(latest.map((event) => searchResult(app.name, event))) };
});
