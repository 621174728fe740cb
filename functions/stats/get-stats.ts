import { getStats } from '../../lib/api/stats.ts';
import { counters, now } from '../../lib/deps.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { indexByPeriod } from '../../lib/statistics/counts.ts';
import { parseStatsRange } from '../../lib/statistics/stats-range.ts';
import { buildDailyStats, buildMonthlyStats, getFirstRequiredDay } from '../../lib/statistics/to-stats.ts';

export const handler = createHandler(getStats, { counters, now })(async ({ app, query }, { now, counters }) => {
  const range = parseStatsRange(query, now());
  if (!range) return { dailyStats: [], monthlyStats: [] };
  const { days, months } = range;
  const [daily, monthly] = await Promise.all([
    counters.listDays(app.name, getFirstRequiredDay(days[0]), days[1]),
    counters.listMonths(app.name, ...months),
  ]);
  const options = { currency: query.currency, includeNotifications: query.include_notifications === 'true' };
  return {
    dailyStats: buildDailyStats(indexByPeriod(daily), days, options),
    monthlyStats: buildMonthlyStats(indexByPeriod(monthly), months, options),
  };
});
