import { endpoints } from '../../api/endpoints.ts';
import { useApi } from '../../api/use-api.ts';
import { useNow } from '../../clock.ts';
import { Chart } from '../../components/chart.tsx';
import { Section } from '../../components/layout.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { Figure, Figures } from '../../components/values.tsx';
import { formatDay, formatNumber, formatUsd } from '../../format.ts';

/** Lifecycle reasons of the day that the page shows, with their names. */
const reasons = [
  ['PURCHASED', 'New'],
  ['RENEWED', 'Renewed'],
  ['ENTERED_GRACE_PERIOD', 'Failed payments'],
  ['REFUNDED', 'Refunded'],
  ['EXPIRED', 'Expired'],
] as const;

/** Statistics of the current day, and the revenue of the last twelve months. Both are in UTC. */
export function DayStatistics({ refreshMs }: { readonly refreshMs: number | undefined }) {
  const today = new Date(useNow());
  const day = today.toISOString().slice(0, 10);
  const startdate = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - 11)).toISOString().slice(0, 10);
  const { data, error, reload } = useApi(
    endpoints.getStats,
    { query: { startdate, enddate: day, include_notifications: 'true' } },
    refreshMs === undefined ? {} : { refreshMs },
  );
  const stats = data?.dailyStats.at(-1);
  const months = data?.monthlyStats ?? [];
  return (
    <Section title={`Statistics of ${formatDay(day)}`} description="Days and months are in UTC.">
      <ErrorNotice error={error} onRetry={reload} />
      <Figures>
        <Figure label="Revenue" value={stats && formatUsd(stats.amountUSD)} />
        <Figure label="Transactions" value={stats && formatNumber(stats.numTransactions)} />
        {reasons.map(([reason, label]) => (
          <Figure key={reason} label={label} value={stats && formatNumber(stats.notifications?.[reason] ?? 0)} />
        ))}
      </Figures>
      <Chart
        title="Revenue by month"
        days={months.map(({ date }) => date)}
        series={[{ label: 'Revenue', values: months.map(({ amountUSD }) => amountUSD) }]}
        kind="bars"
        format={formatUsd}
      />
    </Section>
  );
}
