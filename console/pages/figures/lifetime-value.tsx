import type { CohortInterval, LtvCohort } from '../../../lib/api/figures.ts';
import { useApi } from '../../api/use-api.ts';
import { Button } from '../../components/button.tsx';
import { Chart } from '../../components/chart.tsx';
import { HeatMap } from '../../components/heat-map.tsx';
import { Row, Section } from '../../components/layout.tsx';
import { formatDay, formatNumber, formatPercent, formatUsd } from '../../format.ts';
import { changeQuery } from '../../router.tsx';
import type { PageProps } from '../page.ts';
import { toCohortAxis, useCohortChoice } from './cohort-view.ts';
import { FigureSummary } from './figure-summary.tsx';
import { figuresEndpoints } from './figures-endpoints.ts';
import { FiguresPage } from './figures-page.tsx';
import { buildFiguresView, type FigureMetric } from './figures-view.ts';
import { cohortIntervals, getCohortEnd, isAgeComplete, toFiguresRequest } from './filters.ts';
import { GroupSection } from './group-section.tsx';
import { RowsLink } from './rows-link.tsx';

type Cohorts = readonly LtvCohort[];

const measures = [
  { id: 'customer', label: 'Per customer', countField: 'customers', valueField: 'revenuePerCustomerUSD' },
  { id: 'payer', label: 'Per payer', countField: 'payers', valueField: 'revenuePerPayerUSD' },
] as const;
type Measure = (typeof measures)[number];

/** Ages of the figures: the revenue up to the end of so many months. */
const shownAges = [1, 3, 6, 12] as const;

const sum = (cohorts: Cohorts, read: (cohort: LtvCohort) => number): number =>
  cohorts.reduce((total, cohort) => total + read(cohort), 0);

/** Reads the revenue up to the end of a month. Omits cohorts whose month has not ended. */
const readValue =
  ({ countField, valueField }: Measure, month: number, interval: CohortInterval, now: number) =>
  (cohorts: Cohorts): number | undefined => {
    const ended = cohorts.filter(({ start }) => isAgeComplete(start, interval, month, now));
    const count = sum(ended, (cohort) => cohort[countField]);
    if (count === 0) return undefined;
    return sum(ended, (cohort) => (cohort.ages[month]?.[valueField] ?? 0) * cohort[countField]) / count;
  };

/** Realized revenue per customer by cohort and age. Month 1 begins when the customer is first seen. */
export function LifetimeValuePage({ query }: PageProps) {
  const choice = useCohortChoice(query);
  const { filters, interval, current: range, previous: before, label, comparison, now } = choice;
  const measure = measures.find(({ id }) => id === query.measure) ?? measures[0];
  const { getLtv } = figuresEndpoints;
  const current = useApi(getLtv, toFiguresRequest(range, filters, interval));
  const previous = useApi(getLtv, toFiguresRequest(before, filters, interval));
  const view = buildFiguresView(
    { current, complete: current, previous },
    ({ cohorts, groups }) => ({
      total: cohorts,
      groups: groups?.map(({ cohorts: items, ...segment }) => ({ segment, items })),
    }),
    filters,
  );
  const cohorts = view.items ?? [];
  const ages: readonly FigureMetric<LtvCohort>[] = shownAges.map((months) => ({
    id: `age-${months}`,
    label: months === 1 ? 'After 1 month' : `After ${months} months`,
    read: readValue(measure, months - 1, interval, now),
    format: formatUsd,
  }));
  const metrics = [...counts, ...ages];
  const columnCount = Math.max(0, ...cohorts.map((cohort) => cohort.ages.length));
  const maxValue = Math.max(0.01, ...cohorts.flatMap((cohort) => cohort.ages.map((age) => age[measure.valueField])));
  const axis = toCohortAxis(cohorts, choice);
  return (
    <FiguresPage
      title="Lifetime value"
      definition="ltv"
      filters={filters}
      interval={interval}
      intervals={cohortIntervals}
      range={range}
      comparison={comparison}
      view={view}
    >
      <FigureSummary metrics={metrics} view={view} range={range} label={label} />
      <Section
        title={`Revenue ${measure.label.toLowerCase()}`}
        description="Up to the end of each month since the customers were first seen. Month 1 is month 0 of the API."
        actions={
          <Row>
            {measures.map(({ id, label: name }) => (
              <Button key={id} isPressed={id === measure.id} onClick={() => changeQuery({ measure: id })}>
                {name}
              </Button>
            ))}
          </Row>
        }
      >
        <HeatMap
          caption={`Revenue ${measure.label.toLowerCase()}`}
          rowTitle="First seen"
          sizeTitle={measure.id === 'customer' ? 'Customers' : 'Payers'}
          columnTitles={Array.from({ length: columnCount }, (_, index) => `Month ${index + 1}`)}
          rows={view.items?.map((cohort) => ({
            key: cohort.start,
            name: (
              <RowsLink
                segment={view.segment}
                range={{ first: cohort.start, last: getCohortEnd(cohort.start, interval) }}
              >
                {formatDay(interval === 'month' ? cohort.start.slice(0, 7) : cohort.start)}
              </RowsLink>
            ),
            size: formatNumber(cohort[measure.countField]),
            sizeValue: cohort[measure.countField],
            cells: cohort.ages.map((age) => ({
              value: age[measure.valueField],
              text: formatUsd(age[measure.valueField]),
              share: age[measure.valueField] / maxValue,
              isIncomplete: !isAgeComplete(cohort.start, interval, age.month, now),
            })),
          }))}
          isStale={view.isStale}
        />
      </Section>
      <Section title="Revenue by cohort" description="Up to the end of the first, third, sixth and twelfth month.">
        <Chart
          title="Revenue by cohort"
          series={ages.map(({ label: name, read }) => ({
            label: name,
            values: cohorts.map((cohort) => read([cohort]) ?? null),
          }))}
          format={formatUsd}
          isStale={view.isStale}
          {...axis}
        />
      </Section>
      <GroupSection metrics={metrics} view={view} filters={filters} query={query} range={range} {...axis} />
    </FiguresPage>
  );
}

const counts: readonly FigureMetric<LtvCohort>[] = [
  {
    id: 'customers',
    label: 'Customers',
    read: (cohorts) => sum(cohorts, ({ customers }) => customers),
    format: formatNumber,
  },
  { id: 'payers', label: 'Payers', read: (cohorts) => sum(cohorts, ({ payers }) => payers), format: formatNumber },
  {
    id: 'payer-share',
    label: 'Share of payers',
    read: (cohorts) => {
      const customers = sum(cohorts, (cohort) => cohort.customers);
      return customers === 0 ? undefined : sum(cohorts, ({ payers }) => payers) / customers;
    },
    format: formatPercent,
  },
];
