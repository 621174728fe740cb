import type { MrrRow } from '../../../lib/statistics/mrr-contract.ts';
import { Columns } from '../../components/layout.tsx';
import { formatUsd } from '../../format.ts';
import type { PageProps } from '../page.ts';
import { accountingPeriods } from '../periods.ts';
import { FigureChart } from './figure-chart.tsx';
import { FigureSummary } from './figure-summary.tsx';
import { figuresEndpoints } from './figures-endpoints.ts';
import { FiguresPage } from './figures-page.tsx';
import { type FigureMetric, sumOf } from './figures-view.ts';
import { GroupSection } from './group-section.tsx';
import { type IntervalColumn, IntervalTable } from './interval-rows.tsx';
import { readNet } from './read-net.ts';
import { revenueTabs } from './revenue-tabs.ts';
import { useFigures } from './use-figures.ts';

const sumMovement = (name: keyof MrrRow['movement']) => sumOf(({ movement }: MrrRow) => movement[name]);

const movements = [
  { id: 'new', label: 'New', read: sumMovement('new'), format: formatUsd },
  { id: 'expansion', label: 'Expansion', read: sumMovement('expansion'), format: formatUsd },
  { id: 'reactivated', label: 'Reactivated', read: sumMovement('reactivated'), format: formatUsd },
  { id: 'contraction', label: 'Contraction', read: sumMovement('contraction'), format: formatUsd },
  { id: 'churned', label: 'Churned', read: sumMovement('churned'), format: formatUsd, rowsKind: 'lapsed' },
  { id: 'exchange', label: 'Exchange rates', read: sumMovement('exchange'), format: formatUsd },
] as const satisfies readonly IntervalColumn<MrrRow>[];

const [added, expanded, reactivated, contracted, churned] = movements;

const levels = [
  { id: 'mrr', label: 'MRR', read: (rows) => rows.at(-1)?.mrrUSD, format: formatUsd, rowsKind: 'active' },
  { id: 'arr', label: 'ARR', read: (rows) => rows.at(-1)?.arrUSD, format: formatUsd, rowsKind: 'active' },
] as const satisfies readonly IntervalColumn<MrrRow>[];

const net: FigureMetric<MrrRow> = { id: 'net', label: 'Net change', read: sumOf(readNet), format: formatUsd };

const metrics: readonly IntervalColumn<MrrRow>[] = [...levels, net, ...movements];

/** Recurring revenue at the end of each interval, and its movement. */
export function MrrView({ query }: Pick<PageProps, 'query'>) {
  const figures = useFigures<MrrRow>(figuresEndpoints.getMrr, query);
  return (
    <FiguresPage title="Revenue" definition="mrr" presets={accountingPeriods} tabs={revenueTabs} {...figures}>
      <FigureSummary metrics={metrics} {...figures} />
      <FigureChart
        title="Monthly recurring revenue"
        description="At the end of each interval, in US dollars."
        chartTitle="MRR"
        metrics={[levels[0]]}
        {...figures}
      />
      <Columns>
        <FigureChart
          title="Gained"
          description="Monthly recurring revenue that each interval added."
          chartTitle="Gained MRR"
          metrics={[added, expanded, reactivated]}
          {...figures}
        />
        <FigureChart
          title="Lost"
          description="Monthly recurring revenue that each interval took away."
          chartTitle="Lost MRR"
          metrics={[contracted, churned]}
          {...figures}
        />
      </Columns>
      <GroupSection metrics={metrics} {...figures} />
      <IntervalTable title="Movement by interval" columns={metrics} {...figures} />
    </FiguresPage>
  );
}
