import { createHandler } from '../../lib/http/endpoint.ts';
import { getStats } from '../../lib/statistics/contract.ts';
import { listCounterDays, listCounterMonths } from '../../lib/statistics/counter-table.ts';
import { indexByPeriod } from '../../lib/statistics/counts.ts';
import { parseStatsRange } from '../../lib/statistics/stats-range.ts';
import { buildDailyStats, buildMonthlyStats, getFirstRequiredDay } from '../../lib/statistics/to-stats.ts';

export const handler = createHandler(getStats)(async ({ app, query }, service) => {
  const range = parseStatsRange(query, service.now());
  if (!range) return { dailyStats: [], monthlyStats: [] };
  const { days, months } = range;
  const group = { isSandbox: query.sandbox === 'true' };
  const [daily, monthly] = await Promise.all([
    listCounterDays(service, app.name, { days: [getFirstRequiredDay(days[0]), days[1]], ...group }),
    listCounterMonths(service, app.name, { months, ...group }),
  ]);
  const options = { currency: query.currency, includeNotifications: query.include_notifications === 'true' };
  return {
    dailyStats: buildDailyStats(indexByPeriod(daily), days, options),
    monthlyStats: buildMonthlyStats(indexByPeriod(monthly), months, options),
  };
});
