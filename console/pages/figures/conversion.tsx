import type { ConversionCohort } from '../../../lib/statistics/cohort-contract.ts';
import { Columns } from '../../components/layout.tsx';
import { formatNumber, formatPercent } from '../../format.ts';
import type { PageProps } from '../page.ts';
import { FigureChart } from './figure-chart.tsx';
import { FigureSummary } from './figure-summary.tsx';
import { figuresEndpoints } from './figures-endpoints.ts';
import { FiguresPage } from './figures-page.tsx';
import { sumOf } from './figures-view.ts';
import { GroupSection } from './group-section.tsx';
import { type IntervalColumn, IntervalTable } from './interval-rows.tsx';
import { useCohortFigures } from './use-figures.ts';

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
  const figures = useCohortFigures<ConversionCohort>(figuresEndpoints.getConversion, query);
  return (
    <FiguresPage
      title="Conversion"
      definition="conversion"
      {...figures}
      comparison={`${figures.comparison} Trials that are still running count as not converted.`}
    >
      <FigureSummary metrics={metrics} {...figures} />
      <FigureChart
        title="Conversion rates"
        description="By the week or month in which the trials and customers started."
        metrics={[trialRate, payerRate]}
        {...figures}
      />
      <Columns>
        <FigureChart title="Trials" metrics={[trials, converted]} {...figures} />
        <FigureChart title="Customers" metrics={[customers, payers]} {...figures} />
      </Columns>
      <GroupSection metrics={metrics} {...figures} />
      <IntervalTable title="Conversion by cohort" columns={metrics} {...figures} />
    </FiguresPage>
  );
}
