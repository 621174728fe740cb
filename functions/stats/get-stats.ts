import { getStats } from '../../lib/api/stats.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { rangeOf } from '../../lib/stats/range.ts';
import { dailyStats, firstNeeded, monthlyStats } from '../../lib/stats/records.ts';
import { byPeriod } from '../../lib/stats/tally.ts';

export const handler = endpoint(getStats)(async ({ app, query }, { now, counters }) => {
  const range = rangeOf(query, now());
  if (!range) return { dailyStats: [], monthlyStats: [] };
  const { days, months } = range;
  const [daily, monthly] = await Promise.all([
    counters.days(app.name, firstNeeded(days[0]), days[1]),
    counters.months(app.name, ...months),
  ]);
  const wanted = { currency: query.currency, withNotifications: query.include_notifications === 'true' };
  return {
    dailyStats: dailyStats(byPeriod(daily), days, wanted),
    monthlyStats: monthlyStats(byPeriod(monthly), months, wanted),
  };
});
