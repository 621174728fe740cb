import { Chart } from '../../components/chart.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { SelectField } from '../../components/fields.tsx';
import { Section } from '../../components/layout.tsx';
import { EmptyState } from '../../components/notice.tsx';
import { None, Platform } from '../../components/values.tsx';
import { formatChange } from '../../format.ts';
import { changeQuery, Link, type RouteQuery } from '../../router.tsx';
import type { Range } from '../periods.ts';
import type { FigureMetric, FiguresView, GroupView } from './figures-view.ts';
import { dimensions, type FiguresFilters } from './filters.ts';
import { RowsLink } from './rows-link.tsx';
import { describeSegment, formatSegment, type Segment, toSegmentKey } from './segments.ts';

const maxSeries = 4;

interface GroupSectionProps<Item> {
  readonly metrics: readonly FigureMetric<Item>[];
  readonly view: FiguresView<Item>;
  /** Intervals of the chart, if `view` has the whole period in one. */
  readonly chartView?: FiguresView<Item>;
  readonly filters: FiguresFilters;
  readonly query: RouteQuery;
  readonly range: Range;
  /** Days or months of the chart. Without them, there is no chart. */
  readonly days: readonly string[];
  readonly incomplete: readonly number[];
}

/** The figures by the selected dimension: a chart of the largest values of the page, and a table with all. */
export function GroupSection<Item>(props: GroupSectionProps<Item>) {
  const { metrics, view, chartView = view, filters, query, range, days, incomplete } = props;
  const { by } = filters;
  const metric = metrics.find(({ id }) => id === query.metric) ?? metrics[0];
  if (by === 'none' || !metric) return null;
  const { label = '' } = dimensions.find(({ id }) => id === by) ?? {};
  const sorted = view.groups?.toSorted((a, b) => (metric.read(b.items) ?? -1) - (metric.read(a.items) ?? -1));
  return (
    <Section
      title={`By ${label.toLowerCase()}`}
      actions={
        <SelectField
          label="Figure"
          isLabelHidden
          value={metric.id}
          options={metrics.map(({ id, label: name }) => [id, name] as const)}
          onChange={(id) => changeQuery({ metric: id })}
        />
      }
    >
      <Chart
        title={`${metric.label} by ${label.toLowerCase()}`}
        days={days}
        series={(sorted ?? []).slice(0, maxSeries).map(({ segment }) => ({
          label: describeSegment(segment),
          values: findItems(chartView, segment).map((item) => metric.read([item]) ?? null),
        }))}
        format={metric.format}
        incomplete={incomplete}
        isStale={view.isStale}
      />
      <GroupTable
        caption={`Figures by ${label.toLowerCase()}`}
        name={label}
        view={view}
        groups={sorted}
        by={by}
        query={query}
        columns={metrics.flatMap((column) => buildColumns(column, column === metric))}
        range={range}
      />
    </Section>
  );
}

const findItems = <Item,>({ groups }: FiguresView<Item>, segment: Segment): readonly Item[] =>
  groups?.find((group) => toSegmentKey(group.segment) === toSegmentKey(segment))?.items ?? [];

interface GroupTableProps<Item> extends Pick<GroupSectionProps<Item>, 'view' | 'query' | 'range'> {
  readonly caption: string;
  /** Title of the first column. */
  readonly name: string;
  readonly groups: readonly GroupView<Item>[] | undefined;
  readonly by: FiguresFilters['by'];
  readonly columns: readonly Column<GroupView<Item>>[];
}

/** A row for each value of the dimension, which selects it, and leads to its rows. */
export function GroupTable<Item>({ caption, name, view, groups, by, query, columns, range }: GroupTableProps<Item>) {
  const store: Column<GroupView<Item>> = {
    title: 'Store',
    render: ({ segment: { platform } }) => (platform === undefined ? <None /> : <Platform value={platform} />),
    csv: ({ segment }) => segment.platform,
  };
  return (
    <DataTable
      caption={caption}
      columns={[
        {
          title: name,
          render: ({ segment }) => (
            <Link to={location.hash.replace(/^#|\?.*/g, '')} query={{ ...query, only: toSegmentKey(segment) }}>
              {formatSegment(segment)}
            </Link>
          ),
          csv: ({ segment }) => segment.productId ?? segment.country ?? segment.entitlement ?? segment.platform,
        },
        ...(by === 'product' ? [store] : []),
        ...columns,
        {
          title: 'Rows',
          render: ({ segment }) => (
            <RowsLink segment={segment} range={range}>
              Show
            </RowsLink>
          ),
        },
      ]}
      rows={groups}
      getKey={({ segment }) => toSegmentKey(segment)}
      isStale={view.isStale}
      empty={<EmptyState title="This period has no figures." />}
      fileName={caption.toLowerCase().replace(/\W+/g, '-')}
      placeholderRows={3}
      {...(view.products && {
        paging: {
          ...view.products,
          total: view.products.total,
          pageCount: view.groups?.length,
          onSkip: (target: number) => changeQuery({ skip: target }),
        },
      })}
    />
  );
}

/** The value of a figure with that of the period before in the file; the selected one also with its change. */
function buildColumns<Item>(
  { label, read, format }: FigureMetric<Item>,
  isSelected: boolean,
): readonly Column<GroupView<Item>>[] {
  return [
    {
      title: label,
      align: 'end',
      render: ({ items }) => <Value value={read(items)} format={format} />,
      csv: ({ items }) => read(items),
    },
    { title: `${label}, period before`, csv: ({ previous }) => previous && read(previous) },
    ...(isSelected
      ? [
          {
            title: 'Change',
            align: 'end' as const,
            render: ({ complete, previous }: GroupView<Item>) => {
              const [now, before] = [complete && read(complete), previous && read(previous)];
              return (
                <Value
                  value={before && now !== undefined ? now : undefined}
                  format={(value) => formatChange(value, before ?? 0)}
                />
              );
            },
          },
        ]
      : []),
  ];
}

export const Value = ({
  value,
  format,
}: {
  readonly value: number | undefined;
  readonly format: (value: number) => string;
}) => (value === undefined ? <None /> : <span class="number">{format(value)}</span>);
