import type { RetentionCohort } from '../../../lib/statistics/cohort-contract.ts';
import { HeatMap, type HeatRow } from '../../components/heat-map.tsx';
import { Section } from '../../components/layout.tsx';
import { formatNumber, formatPercent, formatUsd } from '../../format.ts';
import type { PageProps } from '../page.ts';
import { CohortLink } from './cohort-link.tsx';
import { FigureChart } from './figure-chart.tsx';
import { FigureSummary } from './figure-summary.tsx';
import { figuresEndpoints } from './figures-endpoints.ts';
import { FiguresPage } from './figures-page.tsx';
import { type FigureMetric, sumOf } from './figures-view.ts';
import { nameDimension } from './filters.ts';
import { LossSection } from './loss-section.tsx';
import { MeasureChoice } from './measure-choice.tsx';
import { readRetention, sumPeriod } from './retention-sums.ts';
import { RowsLink } from './rows-link.tsx';
import { describeSegment, toSegmentKey } from './segments.ts';
import { useCohortFigures } from './use-figures.ts';

const measures = [
  { id: 'subscriptions', label: 'Subscriptions' },
  { id: 'revenue', label: 'Revenue' },
] as const;
type MeasureId = (typeof measures)[number]['id'];

const countStarted = sumOf(({ size }: RetentionCohort) => size);

/** Periods of the figures above the heat map. */
const shownPeriods = [2, 3, 6, 12] as const;

/** Retention of subscriptions and of their revenue by cohort. Period 1 begins with the first payment. */
export function RetentionPage({ query }: PageProps) {
  const figures = useCohortFigures<RetentionCohort>(figuresEndpoints.getRetention, query);
  const { filters, interval, range, view } = figures;
  const measure = measures.find(({ id }) => id === query.measure)?.id ?? 'subscriptions';
  const unit = interval === 'month' ? 'Month' : 'Week';
  // One-time purchases have cohorts without subscriptions.
  const groups = view.groups?.filter(({ items = [] }) => countStarted(items) > 0);
  const periods: readonly FigureMetric<RetentionCohort>[] = shownPeriods.map((period) => ({
    id: `period-${period}`,
    label: `${unit} ${period}`,
    read: readRetention(period - 1),
    format: formatPercent,
  }));
  const size: FigureMetric<RetentionCohort> = {
    id: 'size',
    label: 'Started',
    read: countStarted,
    format: formatNumber,
  };
  const heat = { sizeTitle: 'Started', unit, isStale: view.isStale } as const;
  // The table above the cohorts has a row for each group, and must not move them.
  const isReady = filters.by === 'none' || groups !== undefined || view.failed !== undefined;
  return (
    <FiguresPage title="Retention" definition="retention" {...figures}>
      <FigureSummary metrics={[size, ...periods]} {...figures} />
      <LossSection {...figures} groups={groups} unit={unit} />
      {isReady && (
        <>
          <Section
            title={`Cohorts by ${measure}`}
            description={`${unit} 1 begins with the first payment.`}
            actions={<MeasureChoice measures={measures} selected={measure} />}
          >
            <HeatMap
              caption={`Cohorts by ${measure}`}
              rowTitle="First payment"
              rows={view.items?.map((cohort) =>
                toHeatRow([cohort], {
                  key: cohort.start,
                  measure,
                  name: <CohortLink segment={filters.segment} start={cohort.start} interval={interval} />,
                }),
              )}
              {...heat}
            />
          </Section>
          {groups && (
            <Section
              title={`Retention by ${nameDimension(filters.by).toLowerCase()}`}
              description="Cohorts whose period is complete."
            >
              <HeatMap
                caption={`Retention by ${nameDimension(filters.by).toLowerCase()}`}
                rowTitle="Cohorts of"
                rows={groups.map(({ segment, items = [] }) =>
                  toHeatRow(items, {
                    key: toSegmentKey(segment),
                    measure,
                    name: (
                      <RowsLink segment={{ ...filters.segment, ...segment }} range={range}>
                        {describeSegment(segment)}
                      </RowsLink>
                    ),
                  }),
                )}
                {...heat}
              />
            </Section>
          )}
          <FigureChart
            title="Retention by cohort"
            description="Active share. Unfinished cohorts are shaded."
            metrics={periods}
            {...figures}
          />
        </>
      )}
    </FiguresPage>
  );
}

/** Builds a row of cohorts together. Undefined cells are periods that have not started. */
function toHeatRow(
  cohorts: readonly RetentionCohort[],
  { key, name, measure }: Pick<HeatRow, 'key' | 'name'> & { readonly measure: MeasureId },
): HeatRow {
  const size = countStarted(cohorts);
  return {
    key,
    name,
    size: formatNumber(size),
    sizeValue: size,
    cells: Array.from({ length: Math.max(0, ...cohorts.map(({ periods }) => periods.length)) }, (_, index) => {
      // A period is complete at its middle, when its subscriptions are counted. Payments follow until its end.
      const sums = sumPeriod(cohorts, index, measure === 'revenue' ? index + 1 : index);
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
