import { Chart } from '../../components/chart.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { SelectField } from '../../components/fields.tsx';
import { Section } from '../../components/layout.tsx';
import { EmptyState } from '../../components/notice.tsx';
import { None, Platform } from '../../components/values.tsx';
import { formatChange } from '../../format.ts';
import { changeQuery, Link } from '../../router.tsx';
import type { FigureMetric, GroupView } from './figures-view.ts';
import { nameDimension } from './filters.ts';
import { RowsLink } from './rows-link.tsx';
import { describeSegment, formatSegment, toFilters, toSegmentKey } from './segments.ts';
import type { PageFigures } from './use-figures.ts';

const maxSeries = 4;

interface GroupSectionProps<Item>
  extends Pick<PageFigures<Item>, 'query' | 'filters' | 'view' | 'range' | 'days' | 'incomplete'> {
  readonly metrics: readonly FigureMetric<Item>[];
}

/** The figures by the selected dimension: a chart of the largest values of the page, and a table with all. */
export function GroupSection<Item>(props: GroupSectionProps<Item>) {
  const {
    metrics,
    query,
    filters: { by },
    view,
    days,
    incomplete,
  } = props;
  const metric = metrics.find(({ id }) => id === query.metric) ?? metrics[0];
  if (by === 'none' || !metric) return null;
  const name = nameDimension(by).toLowerCase();
  const sorted = view.groups?.toSorted((a, b) => readWhole(metric, b) - readWhole(metric, a));
  return (
    <Section
      title={`By ${name}`}
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
        title={`${metric.label} by ${name}`}
        days={days}
        series={(sorted ?? []).slice(0, maxSeries).map(({ segment, items = [] }) => ({
          label: describeSegment(segment),
          values: items.map((item) => metric.read([item]) ?? null),
        }))}
        format={metric.format}
        incomplete={incomplete}
        isStale={view.isStale}
      />
      <GroupTable
        caption={`Figures by ${name}`}
        groups={sorted}
        columns={metrics.flatMap((column) => buildColumns(column, column === metric))}
        {...props}
      />
    </Section>
  );
}

const readWhole = <Item,>({ read }: FigureMetric<Item>, { whole }: GroupView<Item>): number =>
  (whole && read(whole)) ?? -1;

interface GroupTableProps<Item> extends Pick<PageFigures<Item>, 'query' | 'filters' | 'view' | 'range'> {
  readonly caption: string;
  readonly groups: readonly GroupView<Item>[] | undefined;
  readonly columns: readonly Column<GroupView<Item>>[];
}

/** A row for each value of the dimension, which selects it, and leads to its rows. */
export function GroupTable<Item>(props: GroupTableProps<Item>) {
  const { caption, groups, columns, query, filters, view, range } = props;
  const { products } = view.figures ?? {};
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
          title: nameDimension(filters.by),
          render: ({ segment }) => (
            <Link
              to={location.hash.replace(/^#|\?.*/g, '')}
              query={{ ...query, by: '', skip: '', metric: '', ...toFilters(segment) }}
            >
              {formatSegment(segment)}
            </Link>
          ),
          csv: ({ segment }) => segment.productId ?? segment.country ?? segment.entitlement ?? segment.platform,
        },
        ...(filters.by === 'product' ? [store] : []),
        ...columns,
        {
          title: 'Rows',
          render: ({ segment }) => (
            <RowsLink segment={{ ...filters.segment, ...segment }} range={range}>
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
      {...(products && {
        paging: {
          ...products,
          pageCount: view.groups?.length,
          onSkip: (target: number) => changeQuery({ skip: target }),
        },
      })}
    />
  );
}

/** The value of a figure. The file has the previous period's value, and for the selected figure the change. */
function buildColumns<Item>(
  { label, read, format }: FigureMetric<Item>,
  isSelected: boolean,
): readonly Column<GroupView<Item>>[] {
  return [
    {
      title: label,
      align: 'end',
      render: ({ whole }) => <Value value={whole && read(whole)} format={format} />,
      csv: ({ whole }) => whole && read(whole),
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
