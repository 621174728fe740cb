import { getStatsBreakdown } from '../../lib/api/stats.ts';
import { counters, now } from '../../lib/deps.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { readBreakdown } from '../../lib/statistics/read-breakdown.ts';
import { parseStatsRange } from '../../lib/statistics/stats-range.ts';

export const handler = createHandler(getStatsBreakdown, { counters, now })(async ({ app, query }, deps) => {
  const { interval = 'day', by = 'none' } = query;
  const range = parseStatsRange(query, deps.now());
  const breakdown = await readBreakdown(app.name, { days: range?.days, interval, by, page: query }, deps);
  return { interval, by, ...breakdown };
});
