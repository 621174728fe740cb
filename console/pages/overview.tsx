import type { BreakdownRow } from '../../lib/api/stats.ts';
import { endpoints } from '../api/endpoints.ts';
import { useApi } from '../api/use-api.ts';
import { usePolling } from '../api/use-polling.ts';
import { emulatorUrl, useNow } from '../clock.ts';
import { Button } from '../components/button.tsx';
import { Chart } from '../components/chart.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { SelectField } from '../components/fields.tsx';
import { Columns, Page, Row, Section } from '../components/layout.tsx';
import { EmptyState, ErrorNotice } from '../components/notice.tsx';
import { Figure, Figures, Money } from '../components/values.tsx';
import { formatChange, formatNumber, formatUsd } from '../format.ts';
import { changeQuery, Link } from '../router.tsx';
import { CurrentProblems } from './current-problems.tsx';
import { BreakdownSection } from './overview-breakdown.tsx';
import type { PageProps } from './page.ts';
import { chooseInterval, choosePeriod, intervals, type Period, periods, toChartDays } from './periods.ts';
import { chooseMetric, type Metric, metrics, readEach, summarizeTrials } from './stats-rows.ts';

type Rows = readonly BreakdownRow[];

/** Revenue, subscriptions and trials of a period, compared with the period before, and current problems. */
export function OverviewPage({ query }: PageProps) {
  const now = useNow();
  const period = choosePeriod(query.period, now);
  const interval = chooseInterval(query.interval, period);
  const { current, previous } = period;
  const { data, error, isStale, reload } = useApi(endpoints.getStatsBreakdown, {
    query: { interval, startdate: current.first, enddate: current.last },
  });
  const before = useApi(endpoints.getStatsBreakdown, {
    query: { interval: 'range', startdate: previous.first, enddate: previous.last },
  });
  usePolling(reload, { revision: JSON.stringify(data), minMs: 30_000, maxMs: 300_000 });
  const rows = data?.groups[0]?.rows;
  const rowsBefore = before.data?.groups[0]?.rows;
  const isEmpty = rows && rowsBefore && [...rows, ...rowsBefore].every(hasNoValues);
  return (
    <Page title="Overview" actions={<PeriodChoice period={period} interval={interval} />}>
      <CurrentProblems />
      <ErrorNotice error={error ?? before.error} onRetry={error === undefined ? before.reload : reload} />
      {isEmpty ? (
        <Section title="Revenue and subscriptions">
          <EmptyState title="This period has no transactions.">
            Validate a receipt from your app, or select a longer period.{' '}
            {emulatorUrl === undefined ? (
              <Link to="/reference">See the API reference</Link>
            ) : (
              <Link to="/emulator">Buy in the emulator</Link>
            )}
          </EmptyState>
        </Section>
      ) : (
        <>
          <PeriodFigures
            rows={rows}
            rowsBefore={isStale || before.isStale ? undefined : rowsBefore}
            periodLabel={period.previousLabel}
            isStale={isStale}
          />
          <Charts rows={rows ?? []} days={toChartDays(rows ?? [], data?.interval ?? interval)} isStale={isStale} />
          <BreakdownSection period={period} interval={interval} query={query} />
          <Section title="Revenue by currency">
            <RevenueByCurrency records={rows} />
          </Section>
        </>
      )}
    </Page>
  );
}

const hasNoValues = ({ numTransactions, activeSubscriptions, amountUSD, notifications }: BreakdownRow): boolean =>
  numTransactions === 0 && activeSubscriptions === 0 && amountUSD === 0 && Object.keys(notifications).length === 0;

/** Choice of the period and of the interval of the charts. */
const PeriodChoice = ({ period, interval }: { readonly period: Period; readonly interval: Period['interval'] }) => (
  <Row>
    {periods.map(({ id, label }) => (
      <Button
        key={id}
        isPressed={id === period.id}
        onClick={() => changeQuery({ period: id, interval: undefined }, { isReplacing: true })}
      >
        {label}
      </Button>
    ))}
    <SelectField
      label="Interval"
      isLabelHidden
      value={interval}
      options={intervals.map(({ id, label }) => [id, label] as const)}
      onChange={(id) => changeQuery({ interval: id }, { isReplacing: true })}
    />
  </Row>
);

interface ChartsProps {
  readonly rows: Rows;
  readonly days: readonly string[];
  readonly isStale: boolean;
}

function Charts({ rows, days, isStale }: ChartsProps) {
  const toSeries = (label: string, read: Metric['read']) => ({ label, values: readEach({ read }, rows) });
  const readSum = (read: (row: BreakdownRow) => number) => (list: Rows) =>
    list.reduce((total, row) => total + read(row), 0);
  return (
    <>
      <Section title="Revenue" description="In US dollars at the rate of each purchase date, after refunds.">
        <Chart
          title="Revenue"
          kind="bars"
          days={days}
          series={[toSeries('Revenue', chooseMetric('revenue').read)]}
          format={formatUsd}
          isStale={isStale}
        />
      </Section>
      <Columns>
        <Section title="Active subscriptions" description="At the end of each interval, trials included.">
          <Chart
            title="Active subscriptions"
            days={days}
            series={[
              toSeries('Active', chooseMetric('active').read),
              toSeries(
                'In a trial',
                readSum((row) => row.activeTrials),
              ),
            ]}
            isStale={isStale}
          />
        </Section>
        <Section title="Subscriptions">
          <Chart
            title="Subscriptions"
            days={days}
            series={lifecycleMetrics.map(({ label, read }) => toSeries(label, read))}
            isStale={isStale}
          />
        </Section>
      </Columns>
      <Section title="Trials" description="By the day on which they started, were converted to a paid period or ended.">
        <Chart
          title="Trials"
          days={days}
          series={[
            toSeries(
              'Started',
              readSum((row) => row.trialsStarted),
            ),
            toSeries(
              'Converted',
              readSum((row) => row.trialsConverted),
            ),
            toSeries(
              'Ended unpaid',
              readSum((row) => row.trialsEnded),
            ),
          ]}
          isStale={isStale}
        />
      </Section>
    </>
  );
}

const lifecycleMetrics = ['new', 'renewed', 'lost', 'refunded'].map(chooseMetric);

interface PeriodFiguresProps {
  readonly rows: Rows | undefined;
  readonly rowsBefore: Rows | undefined;
  readonly periodLabel: string;
  readonly isStale: boolean;
}

/** Figures of the period with their change from the period before. */
const PeriodFigures = ({ rows, rowsBefore, periodLabel, isStale }: PeriodFiguresProps) => (
  <Figures isStale={isStale}>
    {metrics.map((metric) => (
      <Figure
        key={metric.id}
        label={metric.label}
        value={rows && formatValue(metric, rows)}
        detail={
          rows &&
          rowsBefore &&
          (metric.id === 'conversion'
            ? describeTrials(rows)
            : describeChange(metric, { rows, rowsBefore, periodLabel }))
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

function describeChange(
  { read, format }: Metric,
  { rows, rowsBefore, periodLabel }: { readonly rows: Rows; readonly rowsBefore: Rows; readonly periodLabel: string },
): string {
  const [current, previous] = [read(rows) ?? 0, read(rowsBefore) ?? 0];
  if (previous === 0) return current === 0 ? `Same as ${periodLabel}` : `${format(0)} in ${periodLabel}`;
  return `${formatChange(current, previous)} from ${format(previous)}`;
}

interface CurrencyRow {
  readonly currency: string;
  readonly amountMicros: number;
}

function RevenueByCurrency({ records }: { readonly records: Rows | undefined }) {
  const columns: readonly Column<CurrencyRow>[] = [
    { title: 'Currency', render: ({ currency }) => currency, csv: ({ currency }) => currency },
    {
      title: 'Revenue',
      align: 'end',
      render: ({ amountMicros, currency }) => <Money amountMicros={amountMicros} currency={currency} />,
      csv: ({ amountMicros }) => amountMicros / 1_000_000,
    },
  ];
  return (
    <DataTable
      caption="Revenue by currency"
      columns={columns}
      rows={records && sumByCurrency(records)}
      getKey={({ currency }) => currency}
      empty={<EmptyState title="This period has no revenue." />}
      fileName="revenue-by-currency"
      placeholderRows={4}
    />
  );
}

function sumByCurrency(records: Rows): CurrencyRow[] {
  const totals = new Map<string, number>();
  for (const { amountMicros } of records)
    for (const [currency, amount] of Object.entries(amountMicros))
      totals.set(currency, (totals.get(currency) ?? 0) + amount);
  return [...totals]
    .map(([currency, amountMicros]) => ({ currency, amountMicros }))
    .filter(({ amountMicros }) => amountMicros !== 0)
    .sort((a, b) => a.currency.localeCompare(b.currency));
}
