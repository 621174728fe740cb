import { createHandler } from '../../lib/http/endpoint.ts';
import { getStatsV2 } from '../../lib/statistics/contract.ts';
import { listCounterDays } from '../../lib/statistics/counter-table.ts';
import { indexByPeriod } from '../../lib/statistics/counts.ts';
import { parseStatsRange } from '../../lib/statistics/stats-range.ts';
import { buildDailyStats, getFirstRequiredDay } from '../../lib/statistics/to-stats.ts';

export const handler = createHandler(getStatsV2)(async ({ app, query }, service) => {
  const range = parseStatsRange(query, service.now());
  if (!range) return { dailyStats: [], monthlyStats: { amountUSD: 0, numTransactions: 0 } };
  const { days } = range;
  const countsByDay = indexByPeriod(
    await listCounterDays(service, app.name, { days: [getFirstRequiredDay(days[0]), days[1]] }),
  );
  const dailyStats = buildDailyStats(countsByDay, days, {});
  const lastDay = dailyStats.at(-1);
  return {
    dailyStats: dailyStats.map(({ date, amountUSD, numTransactions, monthlyRevenueUSD, monthlyTransactions }) => ({
      date: date.replaceAll('-', ''),
      amountUSD,
      numTransactions,
      monthlyRevenueUSD,
      monthlyTransactions,
    })),
    // Spec: not shown. The month that ends with the last day of the range.
    monthlyStats: { amountUSD: lastDay?.monthlyRevenueUSD ?? 0, numTransactions: lastDay?.monthlyTransactions ?? 0 },
  };
});
