import type { CohortInterval, LtvCohort } from '../../../lib/statistics/cohort-contract.ts';
import { useNow } from '../../clock.ts';
import { HeatMap } from '../../components/heat-map.tsx';
import { Section } from '../../components/layout.tsx';
import { formatNumber, formatPercent, formatUsd } from '../../format.ts';
import type { PageProps } from '../page.ts';
import { CohortLink } from './cohort-link.tsx';
import { FigureChart } from './figure-chart.tsx';
import { FigureSummary } from './figure-summary.tsx';
import { figuresEndpoints } from './figures-endpoints.ts';
import { FiguresPage } from './figures-page.tsx';
import { type FigureMetric, sumOf } from './figures-view.ts';
import { isAgeComplete } from './filters.ts';
import { GroupSection } from './group-section.tsx';
import { MeasureChoice } from './measure-choice.tsx';
import { useCohortFigures } from './use-figures.ts';

type Cohorts = readonly LtvCohort[];

const measures = [
  { id: 'customer', label: 'Per customer', countField: 'customers', valueField: 'revenuePerCustomerUSD' },
  { id: 'payer', label: 'Per payer', countField: 'payers', valueField: 'revenuePerPayerUSD' },
] as const;
type Measure = (typeof measures)[number];

/** Ages of the figures: the revenue up to the end of so many months. */
const shownAges = [1, 3, 6, 12] as const;

/** Reads the revenue up to the end of a month. Omits cohorts whose month has not ended. */
const readValue =
  ({ countField }: Measure, month: number, interval: CohortInterval, now: number) =>
  (cohorts: Cohorts): number | undefined => {
    const ended = cohorts.filter(({ start }) => isAgeComplete(start, interval, month, now));
    const count = sumOf((cohort: LtvCohort) => cohort[countField])(ended);
    if (count === 0) return undefined;
    return sumOf((cohort: LtvCohort) => cohort.ages[month]?.revenueUSD ?? 0)(ended) / count;
  };

/** Realized revenue per customer by cohort and age. Month 1 begins when the customer is first seen. */
export function LifetimeValuePage({ query }: PageProps) {
  const now = useNow();
  const figures = useCohortFigures<LtvCohort>(figuresEndpoints.getLtv, query);
  const { filters, interval, view } = figures;
  const measure = measures.find(({ id }) => id === query.measure) ?? measures[0];
  const cohorts = view.items ?? [];
  const ages: readonly FigureMetric<LtvCohort>[] = shownAges.map((months) => ({
    id: `age-${months}`,
    label: months === 1 ? 'After 1 month' : `After ${months} months`,
    read: readValue(measure, months - 1, interval, now),
    format: formatUsd,
  }));
  const metrics = [...counts, ...ages];
  const maxValue = Math.max(0.01, ...cohorts.flatMap((cohort) => cohort.ages.map((age) => age[measure.valueField])));
  return (
    <FiguresPage title="Lifetime value" definition="ltv" {...figures}>
      <FigureSummary metrics={metrics} {...figures} />
      <Section
        title={`Revenue ${measure.label.toLowerCase()}`}
        description="Up to the end of each month since the customers were first seen."
        actions={<MeasureChoice measures={measures} selected={measure.id} />}
      >
        <HeatMap
          caption={`Revenue ${measure.label.toLowerCase()}`}
          rowTitle="First seen"
          sizeTitle={measure.id === 'customer' ? 'Customers' : 'Payers'}
          unit="Month"
          rows={view.items?.map((cohort) => ({
            key: cohort.start,
            name: <CohortLink segment={filters.segment} start={cohort.start} interval={interval} />,
            size: formatNumber(cohort[measure.countField]),
            sizeValue: cohort[measure.countField],
            cells: cohort.ages.map((age) =>
              cohort[measure.countField] > 0
                ? {
                    value: age[measure.valueField],
                    text: formatUsd(age[measure.valueField]),
                    share: age[measure.valueField] / maxValue,
                    isIncomplete: !isAgeComplete(cohort.start, interval, age.month, now),
                  }
                : undefined,
            ),
          }))}
          isStale={view.isStale}
        />
      </Section>
      <FigureChart
        title="Revenue by cohort"
        description="Up to the end of the first, third, sixth and twelfth month."
        metrics={ages}
        {...figures}
      />
      <GroupSection metrics={metrics} {...figures} />
    </FiguresPage>
  );
}

const countCustomers = sumOf(({ customers }: LtvCohort) => customers);
const countPayers = sumOf(({ payers }: LtvCohort) => payers);

const counts: readonly FigureMetric<LtvCohort>[] = [
  { id: 'customers', label: 'Customers', read: countCustomers, format: formatNumber },
  { id: 'payers', label: 'Payers', read: countPayers, format: formatNumber },
  {
    id: 'payer-share',
    label: 'Share of payers',
    read: (cohorts) => {
      const customers = countCustomers(cohorts);
      return customers === 0 ? undefined : countPayers(cohorts) / customers;
    },
    format: formatPercent,
  },
];
