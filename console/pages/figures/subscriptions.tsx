import type { ChurnRow } from '../../../lib/statistics/mrr-contract.ts';
import { Columns } from '../../components/layout.tsx';
import { formatNumber, formatPercent, formatUsd } from '../../format.ts';
import type { PageProps } from '../page.ts';
import { FigureChart } from './figure-chart.tsx';
import { FigureSummary } from './figure-summary.tsx';
import { figuresEndpoints } from './figures-endpoints.ts';
import { FiguresPage } from './figures-page.tsx';
import { sumOf } from './figures-view.ts';
import { GroupSection } from './group-section.tsx';
import { type IntervalColumn, IntervalTable } from './interval-rows.tsx';
import { useFigures } from './use-figures.ts';

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
  // A rate of a month: the subscriptions at the start of a year are others than those at its end.
  const figures = useFigures<ChurnRow>(figuresEndpoints.getChurn, { period: '30d', ...query });
  return (
    <FiguresPage title="Subscriptions" definition="churn" {...figures}>
      <FigureSummary metrics={metrics} {...figures} />
      <FigureChart
        title="Churn rate"
        description="Share of the subscriptions and of their MRR that ended in the interval."
        metrics={[rate, revenueRate]}
        {...figures}
      />
      <Columns>
        <FigureChart
          title="Ended subscriptions"
          description="By the cause of their end."
          metrics={[voluntary, involuntary]}
          {...figures}
        />
        <FigureChart
          title="Paying subscriptions"
          description="At the start of each interval."
          metrics={[active]}
          {...figures}
        />
      </Columns>
      <GroupSection metrics={metrics} {...figures} />
      <IntervalTable title="Churn by interval" columns={metrics} {...figures} />
    </FiguresPage>
  );
}
