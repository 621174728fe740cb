import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { table } from '../../composition/table.ts';
import { getStats } from '../../lib/api/stats.ts';
import { createCounterRepository } from '../../lib/db/counter-repository.ts';
import { indexByPeriod } from '../../lib/statistics/counts.ts';
import { parseStatsRange } from '../../lib/statistics/stats-range.ts';
import { buildDailyStats, buildMonthlyStats, getFirstRequiredDay } from '../../lib/statistics/to-stats.ts';

export const handler = createHandler(getStats, () => ({ counters: createCounterRepository(table()), now }))(
  async ({ app, query }, { now, counters }) => {
    const range = parseStatsRange(query, now());
    if (!range) return { dailyStats: [], monthlyStats: [] };
    const { days, months } = range;
    const group = { isSandbox: query.sandbox === 'true' };
    const [daily, monthly] = await Promise.all([
      counters.listDays(app.name, getFirstRequiredDay(days[0]), days[1], group),
      counters.listMonths(app.name, ...months, group),
    ]);
    const options = { currency: query.currency, includeNotifications: query.include_notifications === 'true' };
    return {
      dailyStats: buildDailyStats(indexByPeriod(daily), days, options),
      monthlyStats: buildMonthlyStats(indexByPeriod(monthly), months, options),
    };
  },
);
