import type { MrrRow } from '../../../lib/statistics/mrr-contract.ts';
import { useApi } from '../../api/use-api.ts';
import { useNow } from '../../clock.ts';
import { Chart } from '../../components/chart.tsx';
import { Columns, Section } from '../../components/layout.tsx';
import { formatUsd } from '../../format.ts';
import type { PageProps } from '../page.ts';
import { accountingPeriods, chooseInterval, intervals } from '../periods.ts';
import { FigureSummary } from './figure-summary.tsx';
import { figuresEndpoints } from './figures-endpoints.ts';
import { FiguresPage } from './figures-page.tsx';
import { buildFiguresView, type FigureMetric, sumOf, toIntervalFigures, toSeries } from './figures-view.ts';
import { readFilters, toFiguresRequest } from './filters.ts';
import { GroupSection } from './group-section.tsx';
import { describeDays, type IntervalColumn, IntervalTable, toAxis } from './interval-rows.tsx';
import { readNet } from './read-net.ts';
import { revenueTabs } from './revenue-tabs.ts';

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
  const now = useNow();
  const filters = readFilters(query, now);
  const { period } = filters;
  const interval = chooseInterval(query.interval, period);
  const { getMrr } = figuresEndpoints;
  const current = useApi(getMrr, toFiguresRequest(period.current, filters, interval));
  const complete = useApi(getMrr, toFiguresRequest(period.complete, filters, 'range'));
  const previous = useApi(getMrr, toFiguresRequest(period.previous, filters, 'range'));
  const view = buildFiguresView({ current, complete, previous }, toIntervalFigures, filters);
  const rows = view.items ?? [];
  const axis = toAxis(rows, { period, interval: current.data?.interval ?? interval, now });
  const listSeries = (shown: readonly FigureMetric<MrrRow>[]) => shown.map((metric) => toSeries(metric, rows));
  const shared = { format: formatUsd, isStale: view.isStale, days: axis.days, incomplete: axis.incomplete };
  return (
    <FiguresPage
      title="Revenue"
      definition="mrr"
      filters={filters}
      interval={interval}
      intervals={intervals}
      presets={accountingPeriods}
      tabs={revenueTabs}
      range={period.current}
      comparison={describeDays(period)}
      view={view}
    >
      <FigureSummary metrics={metrics} view={view} range={period.current} label={axis.label} />
      <Section title="Monthly recurring revenue" description="At the end of each interval, in US dollars.">
        <Chart title="MRR" series={listSeries([levels[0]])} {...shared} />
      </Section>
      <Columns>
        <Section title="Gained" description="Monthly recurring revenue that each interval added.">
          <Chart title="Gained MRR" series={listSeries([added, expanded, reactivated])} {...shared} />
        </Section>
        <Section title="Lost" description="Monthly recurring revenue that each interval took away.">
          <Chart title="Lost MRR" series={listSeries([contracted, churned])} {...shared} />
        </Section>
      </Columns>
      <GroupSection
        metrics={metrics}
        view={view}
        filters={filters}
        query={query}
        range={period.current}
        days={axis.days}
        incomplete={axis.incomplete}
      />
      <IntervalTable title="Movement by interval" columns={metrics} view={view} axis={axis} />
    </FiguresPage>
  );
}
