import type { ChurnRow } from '../../../lib/statistics/mrr-contract.ts';
import { useApi } from '../../api/use-api.ts';
import { useNow } from '../../clock.ts';
import { Chart } from '../../components/chart.tsx';
import { Columns, Section } from '../../components/layout.tsx';
import { formatNumber, formatPercent, formatUsd } from '../../format.ts';
import type { PageProps } from '../page.ts';
import { chooseInterval, intervals } from '../periods.ts';
import { FigureSummary } from './figure-summary.tsx';
import { figuresEndpoints } from './figures-endpoints.ts';
import { FiguresPage } from './figures-page.tsx';
import { buildFiguresView, type FigureMetric, sumOf, toIntervalFigures, toSeries } from './figures-view.ts';
import { readFilters, toFiguresRequest } from './filters.ts';
import { GroupSection } from './group-section.tsx';
import { describeDays, type IntervalColumn, IntervalTable, toAxis } from './interval-rows.tsx';

/** A rate of one interval. Undefined without subscriptions at its start. */
const readRate =
  (read: (row: ChurnRow) => number) =>
  ([row]: readonly ChurnRow[]): number | undefined =>
    row && row.activeAtStart > 0 ? read(row) : undefined;

const ended = {
  id: 'churned',
  label: 'Ended',
  read: sumOf((row: ChurnRow) => row.churned),
  format: formatNumber,
} as const;
const voluntary = {
  id: 'voluntary',
  label: 'Voluntary',
  read: sumOf((row: ChurnRow) => row.voluntary),
  format: formatNumber,
};
const involuntary = {
  id: 'involuntary',
  label: 'Payment failed',
  read: sumOf((row: ChurnRow) => row.involuntary),
  format: formatNumber,
};
const lostMrr = {
  id: 'lost-mrr',
  label: 'Churned MRR',
  read: sumOf((row: ChurnRow) => row.churnedMrrUSD),
  format: formatUsd,
};
const rate = { id: 'rate', label: 'Churn rate', read: readRate((row) => row.churnRate), format: formatPercent };
const revenueRate = {
  id: 'revenue-rate',
  label: 'Revenue churn rate',
  read: readRate((row) => row.revenueChurnRate),
  format: formatPercent,
};
const active = {
  id: 'active',
  label: 'Paying at start',
  read: ([row]: readonly ChurnRow[]) => row?.activeAtStart,
  format: formatNumber,
};

const counts = [ended, voluntary, involuntary, lostMrr].map(
  (metric): IntervalColumn<ChurnRow> => ({ ...metric, rowsKind: 'lapsed' }),
);
const metrics: readonly IntervalColumn<ChurnRow>[] = [
  { ...active, rowsKind: 'active' },
  ...counts,
  { ...rate, rowsKind: 'lapsed' },
  { ...revenueRate, rowsKind: 'lapsed' },
];

/** Paying subscriptions, and those that ended: their number, their rate and their revenue. */
export function SubscriptionsPage({ query }: PageProps) {
  const now = useNow();
  const filters = readFilters(query, now);
  const { period } = filters;
  const interval = chooseInterval(query.interval, period);
  const { getChurn } = figuresEndpoints;
  const current = useApi(getChurn, toFiguresRequest(period.current, filters, interval));
  // The figures above the charts are of all days of the period together.
  const whole = useApi(getChurn, toFiguresRequest(period.current, filters, 'range'));
  const complete = useApi(getChurn, toFiguresRequest(period.complete, filters, 'range'));
  const previous = useApi(getChurn, toFiguresRequest(period.previous, filters, 'range'));
  const view = buildFiguresView({ current, complete, previous }, toIntervalFigures, filters);
  const summary = buildFiguresView({ current: whole, complete, previous }, toIntervalFigures, filters);
  const rows = view.items ?? [];
  const axis = toAxis(rows, { period, interval: current.data?.interval ?? interval, now });
  const listSeries = (shown: readonly FigureMetric<ChurnRow>[]) => shown.map((metric) => toSeries(metric, rows));
  const shared = { isStale: view.isStale, days: axis.days, incomplete: axis.incomplete };
  return (
    <FiguresPage
      title="Subscriptions"
      definition="churn"
      filters={filters}
      interval={interval}
      intervals={intervals}
      range={period.current}
      comparison={describeDays(period)}
      view={{ ...view, failed: view.failed ?? summary.failed }}
    >
      <FigureSummary metrics={metrics} view={summary} range={period.current} label={axis.label} />
      <Section title="Churn rate" description="Share of the subscriptions and of their MRR that ended in the interval.">
        <Chart title="Churn rate" series={listSeries([rate, revenueRate])} format={formatPercent} {...shared} />
      </Section>
      <Columns>
        <Section title="Ended subscriptions" description="By the cause of their end.">
          <Chart title="Ended subscriptions" series={listSeries([voluntary, involuntary])} {...shared} />
        </Section>
        <Section title="Paying subscriptions" description="At the start of each interval.">
          <Chart title="Paying subscriptions" series={listSeries([active])} {...shared} />
        </Section>
      </Columns>
      <GroupSection
        metrics={metrics}
        view={summary}
        chartView={view}
        filters={filters}
        query={query}
        range={period.current}
        days={axis.days}
        incomplete={axis.incomplete}
      />
      <IntervalTable title="Churn by interval" columns={metrics} view={view} axis={axis} />
    </FiguresPage>
  );
}
