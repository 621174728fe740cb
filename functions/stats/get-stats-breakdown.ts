import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { table } from '../../composition/table.ts';
import { getStatsBreakdown } from '../../lib/api/stats.ts';
import { createCounterRepository } from '../../lib/db/counter-repository.ts';
import { readBreakdown } from '../../lib/statistics/read-breakdown.ts';
import { parseStatsRange } from '../../lib/statistics/stats-range.ts';

export const handler = createHandler(getStatsBreakdown, () => ({ counters: createCounterRepository(table()), now }))(
  async ({ app, query }, deps) => {
    const { interval = 'day', by = 'none' } = query;
    const range = parseStatsRange(query, deps.now());
    const isSandbox = query.sandbox === 'true';
    const breakdown = await readBreakdown(app.name, { days: range?.days, interval, by, isSandbox, page: query }, deps);
    return { interval, by, ...breakdown };
  },
);
