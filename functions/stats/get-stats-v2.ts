import { getStatsV2 } from '../../lib/api/stats.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { rangeOf } from '../../lib/stats/range.ts';
import { dailyStats, firstNeeded } from '../../lib/stats/records.ts';
import { byPeriod } from '../../lib/stats/tally.ts';

export const handler = endpoint(getStatsV2)(async ({ app, query }, { now, counters }) => {
  const range = rangeOf(query, now());
  if (!range) return { dailyStats: [], monthlyStats: { amountUSD: 0, numTransactions: 0 } };
  const { days } = range;
  const tallies = byPeriod(await counters.days(app.name, firstNeeded(days[0]), days[1]));
  const records = dailyStats(tallies, days, {});
  const latest = records.at(-1);
  return {
    dailyStats: records.map(({ date, amountUSD, numTransactions, monthlyRevenueUSD, monthlyTransactions }) => ({
      date: date.replaceAll('-', ''),
      amountUSD,
      numTransactions,
      monthlyRevenueUSD,
      monthlyTransactions,
    })),
    // Spec: not shown. Of which month the one object tells: of that which ends with the last day.
    monthlyStats: { amountUSD: latest?.monthlyRevenueUSD ?? 0, numTransactions: latest?.monthlyTransactions ?? 0 },
  };
});
