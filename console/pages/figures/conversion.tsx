import type { ConversionCohort } from '../../../lib/statistics/cohort-contract.ts';
import { useApi } from '../../api/use-api.ts';
import { Chart } from '../../components/chart.tsx';
import { Columns, Section } from '../../components/layout.tsx';
import { formatNumber, formatPercent } from '../../format.ts';
import type { PageProps } from '../page.ts';
import { toCohortAxis, useCohortChoice } from './cohort-view.ts';
import { FigureSummary } from './figure-summary.tsx';
import { figuresEndpoints } from './figures-endpoints.ts';
import { FiguresPage } from './figures-page.tsx';
import { buildFiguresView, type FigureMetric, sumOf, toCohortFigures, toSeries } from './figures-view.ts';
import { cohortIntervals, getCohortEnd, toFiguresRequest } from './filters.ts';
import { GroupSection } from './group-section.tsx';
import { type IntervalColumn, IntervalTable } from './interval-rows.tsx';

type Cohorts = readonly ConversionCohort[];
type CountField = 'trials' | 'converted' | 'customers' | 'payers';

const sum = (field: CountField) => sumOf((cohort: ConversionCohort) => cohort[field]);

const readShare =
  (part: CountField, whole: CountField) =>
  (cohorts: Cohorts): number | undefined => {
    const total = sum(whole)(cohorts);
    return total === 0 ? undefined : sum(part)(cohorts) / total;
  };

const trials = { id: 'trials', label: 'Trials started', read: sum('trials'), format: formatNumber } as const;
const converted = { id: 'converted', label: 'Trials converted', read: sum('converted'), format: formatNumber };
const customers = { id: 'customers', label: 'Customers', read: sum('customers'), format: formatNumber };
const payers = { id: 'payers', label: 'Payers', read: sum('payers'), format: formatNumber };
const trialRate = {
  id: 'trial-rate',
  label: 'Trial conversion',
  read: readShare('converted', 'trials'),
  format: formatPercent,
};
const payerRate = {
  id: 'payer-rate',
  label: 'Share of payers',
  read: readShare('payers', 'customers'),
  format: formatPercent,
};

const metrics: readonly IntervalColumn<ConversionCohort>[] = [
  { ...trialRate, rowsKind: 'trial' },
  { ...trials, rowsKind: 'trial' },
  converted,
  payerRate,
  customers,
  payers,
];

/** Conversion of trials to paid subscriptions, and of customers to payers, by the time of their start. */
export function ConversionPage({ query }: PageProps) {
  const choice = useCohortChoice(query);
  const { filters, interval, current: range, previous: before, label, comparison } = choice;
  const { getConversion } = figuresEndpoints;
  const current = useApi(getConversion, toFiguresRequest(range, filters, interval));
  const previous = useApi(getConversion, toFiguresRequest(before, filters, interval));
  const view = buildFiguresView({ current, complete: current, previous }, toCohortFigures, filters);
  const cohorts = view.items ?? [];
  const axis = toCohortAxis(cohorts, choice);
  const listSeries = (shown: readonly FigureMetric<ConversionCohort>[]) =>
    shown.map((metric) => toSeries(metric, cohorts));
  const shared = { isStale: view.isStale, ...axis };
  return (
    <FiguresPage
      title="Conversion"
      definition="conversion"
      filters={filters}
      interval={interval}
      intervals={cohortIntervals}
      range={range}
      comparison={`${comparison} Trials that are still running count as not converted.`}
      view={view}
    >
      <FigureSummary metrics={metrics} view={view} range={range} label={label} />
      <Section title="Conversion rates" description="By the week or month in which the trials and customers started.">
        <Chart
          title="Conversion rates"
          series={listSeries([trialRate, payerRate])}
          format={formatPercent}
          {...shared}
        />
      </Section>
      <Columns>
        <Section title="Trials">
          <Chart title="Trials" series={listSeries([trials, converted])} {...shared} />
        </Section>
        <Section title="Customers">
          <Chart title="Customers" series={listSeries([customers, payers])} {...shared} />
        </Section>
      </Columns>
      <GroupSection metrics={metrics} view={view} filters={filters} query={query} range={range} {...axis} />
      <IntervalTable
        title="Conversion by cohort"
        columns={metrics}
        view={view}
        axis={{
          ...axis,
          label,
          ranges: cohorts.map(({ start }) => ({ first: start, last: getCohortEnd(start, interval) })),
        }}
      />
    </FiguresPage>
  );
}
