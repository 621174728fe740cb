import type { RetentionCohort } from '../../../lib/api/figures.ts';
import { useApi } from '../../api/use-api.ts';
import { Button } from '../../components/button.tsx';
import { Chart } from '../../components/chart.tsx';
import { HeatMap, type HeatRow } from '../../components/heat-map.tsx';
import { Row, Section } from '../../components/layout.tsx';
import { formatDay, formatNumber, formatPercent, formatUsd } from '../../format.ts';
import { changeQuery } from '../../router.tsx';
import type { PageProps } from '../page.ts';
import { toCohortAxis, useCohortChoice } from './cohort-view.ts';
import { FigureSummary } from './figure-summary.tsx';
import { figuresEndpoints } from './figures-endpoints.ts';
import { FiguresPage } from './figures-page.tsx';
import { buildFiguresView, type FigureMetric } from './figures-view.ts';
import { cohortIntervals, getCohortEnd, toFiguresRequest } from './filters.ts';
import { LossSection } from './loss-section.tsx';
import { readRetention, sumPeriod } from './retention-sums.ts';
import { RowsLink } from './rows-link.tsx';
import { describeSegment, toSegmentKey } from './segments.ts';

type Cohorts = readonly RetentionCohort[];

const measures = [
  { id: 'subscriptions', label: 'Subscriptions' },
  { id: 'revenue', label: 'Revenue' },
] as const;
type MeasureId = (typeof measures)[number]['id'];

/** Periods of the figures above the heat map. */
const shownPeriods = [2, 3, 6, 12] as const;

/** Retention of subscriptions and of their revenue by cohort. Period 1 begins with the first payment. */
export function RetentionPage({ query }: PageProps) {
  const choice = useCohortChoice(query);
  const { filters, interval, current: range, previous: before, label, comparison } = choice;
  const measure = measures.find(({ id }) => id === query.measure)?.id ?? 'subscriptions';
  const unit = interval === 'month' ? 'Month' : 'Week';
  const { getRetention } = figuresEndpoints;
  const current = useApi(getRetention, toFiguresRequest(range, filters, interval));
  const previous = useApi(getRetention, toFiguresRequest(before, filters, interval));
  const view = buildFiguresView(
    { current, complete: current, previous },
    ({ cohorts, groups }) => ({
      total: cohorts,
      groups: groups?.map(({ cohorts: items, ...segment }) => ({ segment, items })),
    }),
    filters,
  );
  const cohorts = view.items ?? [];
  const periods: readonly FigureMetric<RetentionCohort>[] = shownPeriods.map((period) => ({
    id: `period-${period}`,
    label: `${unit} ${period}`,
    read: readRetention(period - 1),
    format: formatPercent,
  }));
  const size: FigureMetric<RetentionCohort> = {
    id: 'size',
    label: 'Started',
    read: (items) => items.reduce((sum, cohort) => sum + cohort.size, 0),
    format: formatNumber,
  };
  const columnCount = Math.max(0, ...cohorts.map((cohort) => cohort.periods.length));
  const columnTitles = Array.from({ length: columnCount }, (_, index) => `${unit} ${index + 1}`);
  const heat = { sizeTitle: 'Started', columnTitles, isStale: view.isStale };
  return (
    <FiguresPage
      title="Retention"
      definition="retention"
      filters={filters}
      interval={interval}
      intervals={cohortIntervals}
      range={range}
      comparison={comparison}
      view={view}
    >
      <FigureSummary metrics={[size, ...periods]} view={view} range={range} label={label} />
      <LossSection view={view} filters={filters} query={query} range={range} unit={unit} />
      <Section
        title={`Cohorts by ${measure}`}
        description={`${unit} 1 begins with the first payment, and is index 0 of the API.`}
        actions={
          <Row>
            {measures.map(({ id, label: name }) => (
              <Button key={id} isPressed={id === measure} onClick={() => changeQuery({ measure: id })}>
                {name}
              </Button>
            ))}
          </Row>
        }
      >
        <HeatMap
          caption={`Cohorts by ${measure}`}
          rowTitle="First payment"
          rows={view.items?.map((cohort) =>
            toHeatRow([cohort], columnCount, {
              key: cohort.start,
              measure,
              name: (
                <RowsLink
                  segment={view.segment}
                  range={{ first: cohort.start, last: getCohortEnd(cohort.start, interval) }}
                >
                  {formatDay(interval === 'month' ? cohort.start.slice(0, 7) : cohort.start)}
                </RowsLink>
              ),
            }),
          )}
          {...heat}
        />
      </Section>
      {view.groups && (
        <Section title={`Retention by ${filters.by}`} description="All cohorts of the period whose period is complete.">
          <HeatMap
            caption={`Retention by ${filters.by}`}
            rowTitle="Cohorts of"
            rows={view.groups.map(({ segment, items }) =>
              toHeatRow(items, columnCount, {
                key: toSegmentKey(segment),
                measure,
                name: (
                  <RowsLink segment={segment} range={range}>
                    {describeSegment(segment)}
                  </RowsLink>
                ),
              }),
            )}
            {...heat}
          />
        </Section>
      )}
      <Section
        title="Retention by cohort"
        description="Share of each cohort that is active. Cohorts that have not ended are shaded."
      >
        <Chart
          title="Retention by cohort"
          series={periods.map(({ label: name, read }) => ({
            label: name,
            values: cohorts.map((cohort) => read([cohort]) ?? null),
          }))}
          format={formatPercent}
          isStale={view.isStale}
          {...toCohortAxis(cohorts, choice)}
        />
      </Section>
    </FiguresPage>
  );
}

/** Builds a row of cohorts together. Undefined cells are periods that have not started. */
function toHeatRow(
  cohorts: Cohorts,
  columnCount: number,
  { key, name, measure }: Pick<HeatRow, 'key' | 'name'> & { readonly measure: MeasureId },
): HeatRow {
  const size = cohorts.reduce((sum, cohort) => sum + cohort.size, 0);
  return {
    key,
    name,
    size: formatNumber(size),
    sizeValue: size,
    cells: Array.from({ length: columnCount }, (_, index) => {
      const sums = sumPeriod(cohorts, index);
      if (!sums) return undefined;
      const rate = sums.active / sums.size;
      return measure === 'subscriptions'
        ? { value: rate, text: formatPercent(rate), share: rate, isIncomplete: !sums.isComplete }
        : {
            value: sums.revenueUSD,
            text: formatUsd(sums.revenueUSD),
            share: sums.firstRevenueUSD > 0 ? sums.revenueUSD / sums.firstRevenueUSD : 0,
            isIncomplete: !sums.isComplete,
          };
    }),
  };
}
