import type { BreakdownRow, StatsInterval } from '../../lib/statistics/breakdown-contract.ts';
import { endpoints } from '../api/endpoints.ts';
import { useApi, useLoad } from '../api/use-api.ts';
import { usePolling } from '../api/use-polling.ts';
import { emulatorUrl, useNow } from '../clock.ts';
import { Chart } from '../components/chart.tsx';
import { Columns, Page, Section } from '../components/layout.tsx';
import { EmptyState, EndPlaceholders, ErrorNotice, Skeleton } from '../components/notice.tsx';
import { UnconvertedNotice } from '../components/unconverted-notice.tsx';
import { Figure, Figures } from '../components/values.tsx';
import { formatNumber, formatUsd } from '../format.ts';
import { Link } from '../router.tsx';
import { showsSandbox, toSandboxQuery } from '../sandbox.ts';
import { AnnotatedCharts, AnnotationsButton, useAnnotations } from './annotations.tsx';
import { CountedUntil } from './counted-until.tsx';
import { CurrentProblems } from './current-problems.tsx';
import { describeChange } from './describe-change.ts';
import type { OverviewDetailsProps } from './overview-details.tsx';
import { Headline } from './overview-headline.tsx';
import type { PageProps } from './page.ts';
import { PeriodChoice } from './period-choice.tsx';
import {
  chooseInterval,
  choosePeriod,
  describeRange,
  describeShownDays,
  intervals,
  listIncomplete,
  type Period,
  toChartDays,
} from './periods.ts';
import { chooseMetric, type Metric, metrics, readEach, readUnconvertedShare, summarizeTrials } from './stats-rows.ts';

type Rows = readonly BreakdownRow[];

/** Revenue, subscriptions and trials of a period, compared with the period before, and current problems. */
export function OverviewPage({ query }: PageProps) {
  const now = useNow();
  const period = choosePeriod(query, now);
  const interval = chooseInterval(query.interval, period);
  const isSandbox = showsSandbox(query);
  const { current, complete, previous } = period;
  const toRequest = ({ first, last }: Period['current'], length: StatsInterval) => ({
    query: { interval: length, startdate: first, enddate: last, ...toSandboxQuery(isSandbox) },
  });
  const { data, error, isStale, reload } = useApi(endpoints.getStatsBreakdown, toRequest(current, interval));
  const whole = useApi(endpoints.getStatsBreakdown, complete && toRequest(complete, 'range'));
  const before = useApi(endpoints.getStatsBreakdown, previous && toRequest(previous, 'range'));
  usePolling(reload, { revision: JSON.stringify(data), minMs: 30_000, maxMs: 300_000 });
  const rows = data?.groups[0]?.rows;
  const isComparable = !isStale && !whole.isStale && !before.isStale;
  const comparison = {
    complete: isComparable ? whole.data?.groups[0]?.rows : undefined,
    previous: isComparable ? before.data?.groups[0]?.rows : undefined,
    label: period.label,
  };
  const isEmpty = rows && [...rows, ...(before.data?.groups[0]?.rows ?? [])].every(hasNoValues);
  const incomplete = listIncomplete(rows ?? [], interval, now);
  const annotations = useAnnotations(current);
  const failed = [{ error, reload }, whole, before].find((request) => request.error !== undefined);
  return (
    <Page
      title="Overview"
      subtitle={describePeriod(period, isSandbox)}
      actions={
        <>
          <PeriodChoice period={period} interval={interval} intervals={intervals} />
          <AnnotationsButton annotations={annotations} />
        </>
      }
    >
      <CurrentProblems />
      <CountedUntil figures={data} />
      <UnconvertedNotice share={readUnconvertedShare(rows ?? [])} />
      <ErrorNotice error={failed?.error} {...(failed && { onRetry: failed.reload })} />
      {isEmpty ? (
        <Section title="Revenue and subscriptions">
          <NoTransactions />
        </Section>
      ) : (
        <EndPlaceholders error={error}>
          <AnnotatedCharts annotations={annotations}>
            <Headline
              period={period}
              interval={interval}
              isSandbox={isSandbox}
              rows={rows}
              isStale={isStale}
              describe={(metric) => rows && describeComparison(metric, rows, comparison)}
            />
            <Charts
              rows={rows ?? []}
              days={toChartDays(rows ?? [], data?.interval ?? interval)}
              incomplete={incomplete}
              isStale={isStale}
            />
            <PeriodFigures rows={rows} comparison={comparison} isStale={isStale} />
            <LazyDetails period={period} interval={interval} query={query} records={rows} />
          </AnnotatedCharts>
        </EndPlaceholders>
      )}
    </Page>
  );
}

/** The sections are below the first screen, so they are loaded after the page. */
function LazyDetails(props: OverviewDetailsProps) {
  const { data, error, reload } = useLoad(async () => await import('./overview-details.tsx'), 'details');
  if (data) return <data.OverviewDetails {...props} />;
  return error === undefined ? <Skeleton lines={8} /> : <ErrorNotice error={error} onRetry={reload} />;
}

const hasNoValues = ({ numTransactions, activeSubscriptions, amountUSD, notifications }: BreakdownRow): boolean =>
  numTransactions === 0 &&
  activeSubscriptions === 0 &&
  amountUSD === 0 &&
  Object.values(notifications).every((count) => count === 0);

/** Describes the days of the figures and of their comparison. */
function describePeriod({ current, complete, previous }: Period, isSandbox: boolean): string {
  const shown = `${describeShownDays(current, isSandbox)}.`;
  if (!complete || !previous) return `${shown} Today is not complete: there is no comparison.`;
  const cause = complete.last === current.last ? 'Changes compare' : 'Today is not complete: changes compare';
  return `${shown} ${cause} ${describeRange(complete)} with ${describeRange(previous)}.`;
}

/** Leads to the first purchase. */
const NoTransactions = () => (
  <EmptyState title="This period has no transactions.">
    {emulatorUrl === undefined ? (
      <>
        Connect a store, then validate a receipt from your app. <Link to="/settings">Connect a store</Link>{' '}
        <Link to="/reference">See the API reference</Link>
      </>
    ) : (
      <>
        Buy a subscription in the emulator: it appears here within seconds.{' '}
        <Link to="/emulator">Buy in the emulator</Link>
      </>
    )}
  </EmptyState>
);

interface ChartsProps {
  readonly rows: Rows;
  readonly days: readonly string[];
  /** Positions of the days that are not complete. */
  readonly incomplete: readonly number[];
  readonly isStale: boolean;
}

function Charts({ rows, days, incomplete, isStale }: ChartsProps) {
  const shared = { days, incomplete, isStale };
  const toSeries = (label: string, read: (row: BreakdownRow) => number) => ({ label, values: rows.map(read) });
  return (
    <>
      <Section title="Revenue" description="In US dollars at the rate of each purchase date, after refunds.">
        <Chart
          title="Revenue"
          kind="bars"
          series={[toSeries('Revenue', ({ amountUSD }) => amountUSD)]}
          format={formatUsd}
          {...shared}
        />
      </Section>
      <Columns>
        <Section title="Active subscriptions" description="At the end of each interval, trials included.">
          <Chart
            title="Active subscriptions"
            series={[
              toSeries('Active', (row) => row.activeSubscriptions),
              toSeries('In a trial', (row) => row.activeTrials),
            ]}
            {...shared}
          />
        </Section>
        <Section title="Subscriptions">
          <Chart
            title="Subscriptions"
            series={lifecycleMetrics.map((metric) => ({ label: metric.label, values: readEach(metric, rows) }))}
            {...shared}
          />
        </Section>
      </Columns>
      <Section title="Trials" description="By the day of their start, paid conversion or end.">
        <Chart
          title="Trials"
          series={[
            toSeries('Started', (row) => row.trialsStarted),
            toSeries('Converted', (row) => row.trialsConverted),
            toSeries('Ended unpaid', (row) => row.trialsEnded),
          ]}
          {...shared}
        />
      </Section>
    </>
  );
}

const lifecycleMetrics = ['new', 'renewed', 'lost', 'refunded'].map(chooseMetric);

/** The complete days of a period and the same number of days before it. Undefined while they are loading. */
interface Comparison {
  readonly complete: Rows | undefined;
  readonly previous: Rows | undefined;
  /** Name of the previous days in a sentence. */
  readonly label: string | undefined;
}

interface PeriodFiguresProps {
  readonly rows: Rows | undefined;
  readonly comparison: Comparison;
  readonly isStale: boolean;
}

const otherMetrics = metrics.filter(({ id }) => !['revenue', 'active', 'in-trial'].includes(id));

/** The other figures of the period. Their change compares complete days only. */
const PeriodFigures = ({ rows, comparison, isStale }: PeriodFiguresProps) => (
  <Figures isStale={isStale}>
    {otherMetrics.map((metric) => (
      <Figure
        key={metric.id}
        label={metric.label}
        value={rows && formatValue(metric, rows)}
        detail={
          rows && !isStale
            ? metric.id === 'conversion'
              ? describeTrials(rows)
              : describeComparison(metric, rows, comparison)
            : undefined
        }
      />
    ))}
  </Figures>
);

function formatValue({ read, format }: Metric, rows: Rows): string {
  const value = read(rows);
  return value === undefined ? '–' : format(value);
}

function describeTrials(rows: Rows): string {
  const { started, converted, running } = summarizeTrials(rows);
  if (started === 0) return 'No trial started';
  return `${formatNumber(converted)} of ${formatNumber(started)} trials, ${formatNumber(running)} still running`;
}

function describeComparison(
  { read, format }: Metric,
  rows: Rows,
  { complete, previous, label }: Comparison,
): string | undefined {
  if (!complete || !previous || label === undefined) return undefined;
  if (previous.every(hasNoValues)) return `No data in ${label}`;
  const [current, before] = [read(complete) ?? 0, read(previous) ?? 0];
  return describeChange({ current, shown: read(rows), previous: before, format, label });
}
