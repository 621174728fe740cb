import { createHandler } from '../../lib/http/endpoint.ts';
import { getStatsBreakdown } from '../../lib/statistics/breakdown-contract.ts';
import { readCountedUntil } from '../../lib/statistics/counted-until-table.ts';
import { readBreakdown } from '../../lib/statistics/read-breakdown.ts';
import { parseStatsRange } from '../../lib/statistics/stats-range.ts';

export const handler = createHandler(getStatsBreakdown)(async ({ app, query }, service) => {
  const countedUntil = await readCountedUntil(service);
  const { interval = 'day', by = 'none' } = query;
  const range = parseStatsRange(query, service.now());
  const isSandbox = query.sandbox === 'true';
  const breakdown = await readBreakdown(service, app.name, { days: range?.days, interval, by, isSandbox, page: query });
  return { countedUntil, interval, by, ...breakdown };
});
