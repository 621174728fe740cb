import type { BreakdownGroup, StatsInterval } from '../../lib/statistics/breakdown-contract.ts';
import { endpoints } from '../api/endpoints.ts';
import { useApi } from '../api/use-api.ts';
import { useNow } from '../clock.ts';
import { Button } from '../components/button.tsx';
import { Chart } from '../components/chart.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { SelectField } from '../components/fields.tsx';
import { Row, Section } from '../components/layout.tsx';
import { EmptyState } from '../components/notice.tsx';
import { None, Platform, shorten } from '../components/values.tsx';
import { formatChange, formatPlatform, formatProductId } from '../format.ts';
import { changeQuery, type RouteQuery } from '../router.tsx';
import { showsSandbox, toSandboxQuery } from '../sandbox.ts';
import { parseSkip } from './parse-skip.ts';
import { listIncomplete, type Period, toChartDays } from './periods.ts';
import { chooseMetric, type MetricId, metrics, readEach } from './stats-rows.ts';

/** Products of a page of the table. A chart of many days has fewer: the service limits the response. */
const productsPerPage = 50;
const maxSeries = 4;

const dimensionNames = { platform: 'Store', product: 'Product' } as const;

/** Figures that the table shows only if the user chooses them: all of them do not fit 1,280 pixels. */
const hiddenMetrics: readonly string[] = ['unverified', 'refunded', 'paid', 'trials'] satisfies MetricId[];

export interface BreakdownSectionProps {
  readonly period: Period;
  readonly interval: StatsInterval;
  readonly query: RouteQuery;
}

interface GroupRow extends BreakdownGroup {
  /** The complete days of the period, and the days before it; empty if the group is not in them. */
  readonly complete: BreakdownGroup['rows'];
  readonly previous: BreakdownGroup['rows'];
}

/** The figures of the overview by store or product: a table, and a chart of the largest rows of the shown page. */
export function BreakdownSection({ period, interval, query }: BreakdownSectionProps) {
  const by = query.by === 'product' ? 'product' : 'platform';
  const name = dimensionNames[by].toLowerCase();
  const metric = chooseMetric(query.metric);
  const skip = by === 'product' ? parseSkip(query.skip, 1) : 0;
  const page = {
    by,
    ...toSandboxQuery(showsSandbox(query)),
    ...(by === 'product' && { skip: String(skip), limit: String(productsPerPage) }),
  };
  const now = useNow();
  const { current, complete, previous } = period;
  const { data, error, isStale, reload } = useApi(endpoints.getStatsBreakdown, {
    query: { ...page, interval, startdate: current.first, enddate: current.last },
  });
  const toRangeRequest = ({ first, last }: Period['current']) => ({
    query: { ...page, interval: 'range' as const, startdate: first, enddate: last },
  });
  const whole = useApi(endpoints.getStatsBreakdown, complete && toRangeRequest(complete));
  const before = useApi(endpoints.getStatsBreakdown, previous && toRangeRequest(previous));
  const isComparable = !isStale && !whole.isStale && !before.isStale;
  const rows =
    data?.by === by
      ? data.groups.map((group) => ({
          ...group,
          complete: isComparable ? findRows(group, whole.data?.groups) : [],
          previous: isComparable ? findRows(group, before.data?.groups) : [],
        }))
      : undefined;
  const sorted = rows?.toSorted((a, b) => (metric.read(b.rows) ?? -1) - (metric.read(a.rows) ?? -1));
  const shown = sorted?.filter((row) => hasValues(row));
  const largest = shown?.slice(0, maxSeries) ?? [];
  const labels = toLabels(largest);
  const products = data?.products;
  return (
    <Section
      title={`By ${name}`}
      actions={
        <Row>
          {(['platform', 'product'] as const).map((dimension) => (
            <Button
              key={dimension}
              isPressed={dimension === by}
              onClick={() => changeQuery({ by: dimension, skip: undefined })}
            >
              {dimensionNames[dimension]}
            </Button>
          ))}
          <SelectField
            label="Figure"
            isLabelHidden
            value={metric.id as MetricId}
            options={metrics.map(({ id, label }) => [id, label] as const)}
            onChange={(id) => changeQuery({ metric: id })}
          />
        </Row>
      }
    >
      <Chart
        title={`${metric.label} by ${name}`}
        days={toChartDays(sorted?.[0]?.rows ?? [], data?.interval ?? interval)}
        series={largest.map((group, index) => ({
          label: labels[index] ?? '',
          values: readEach(metric, group.rows),
        }))}
        format={metric.format}
        incomplete={listIncomplete(sorted?.[0]?.rows ?? [], data?.interval ?? interval, now)}
        isStale={isStale}
      />
      <DataTable
        caption={`Figures by ${name}`}
        columns={by === 'product' ? [productColumn, storeColumn, ...metricColumns] : [storeColumn, ...metricColumns]}
        rows={shown}
        getKey={toKey}
        isStale={isStale}
        error={error}
        onRetry={reload}
        empty={<EmptyState title="This period has no revenue and no subscriptions." />}
        fileName={`statistics-by-${name}`}
        placeholderRows={3}
        {...(products && {
          paging: {
            ...products,
            pageCount: data?.groups.length,
            onSkip: (target: number) => changeQuery({ skip: target }),
          },
        })}
      />
    </Section>
  );
}

const toKey = ({ platform, productId }: BreakdownGroup): string => JSON.stringify([platform, productId]);

/** Returns different labels for the series. Products of several platforms can have the same id. */
function toLabels(groups: readonly BreakdownGroup[]): string[] {
  const labels = groups.map(({ platform = '', productId }) =>
    productId === undefined
      ? formatPlatform(platform)
      : `${shorten(formatProductId(productId))}, ${formatPlatform(platform)}`,
  );
  return labels.map((label, index) => (labels.indexOf(label) === index ? label : `${label} (${index + 1})`));
}

const findRows = (group: BreakdownGroup, groups: readonly BreakdownGroup[] = []): BreakdownGroup['rows'] =>
  groups.find((candidate) => toKey(candidate) === toKey(group))?.rows ?? [];

// Products that are no longer sold have only zeros.
const hasValues = ({ rows, previous }: GroupRow): boolean =>
  metrics.some(({ read }) => Boolean(read(rows)) || Boolean(read(previous)));

const storeColumn: Column<GroupRow> = {
  title: dimensionNames.platform,
  render: ({ platform }) => (platform === undefined ? <None /> : <Platform value={platform} />),
  csv: ({ platform }) => platform,
};

const productColumn: Column<GroupRow> = {
  title: dimensionNames.product,
  render: ({ productId = '' }) => <span title={productId}>{shorten(formatProductId(productId))}</span>,
  csv: ({ productId }) => productId,
};

const metricColumns: readonly Column<GroupRow>[] = metrics.flatMap(
  ({ id, label, read, format }): Column<GroupRow>[] => {
    const readRow = ({ rows }: GroupRow) => read(rows);
    const value: Column<GroupRow> = {
      title: label,
      align: 'end',
      isHidden: hiddenMetrics.includes(id),
      render: (row) => {
        const number = readRow(row);
        return number === undefined ? <None /> : <span class="number">{format(number)}</span>;
      },
      csv: readRow,
    };
    const before: Column<GroupRow> = { title: `${label}, period before`, csv: ({ previous }) => read(previous) };
    const change: Column<GroupRow> = {
      title: 'Revenue change',
      align: 'end',
      render: (row) => <Change row={row} read={read} />,
    };
    return id === 'revenue' ? [value, change, before] : [value, before];
  },
);

function Change({
  row,
  read,
}: {
  readonly row: GroupRow;
  readonly read: (rows: GroupRow['rows']) => number | undefined;
}) {
  const [current = 0, previous] = [read(row.complete), read(row.previous)];
  // Revenue that is all of today has not fallen by 100 %.
  const isOfToday = current === 0 && Boolean(read(row.rows));
  return previous && !isOfToday ? <span class="number">{formatChange(current, previous)}</span> : <None />;
}
