import { DataTable } from '../../components/data-table.tsx';
import { Section } from '../../components/layout.tsx';
import { EmptyState } from '../../components/notice.tsx';
import { formatDay } from '../../format.ts';
import type { FigureMetric } from './figures-view.ts';
import { Value } from './group-section.tsx';
import { RowsLink } from './rows-link.tsx';
import type { RowsKind } from './segments.ts';
import type { PageFigures } from './use-figures.ts';

export type IntervalColumn<Item> = FigureMetric<Item> & { readonly rowsKind?: RowsKind };

interface IntervalTableProps<Item>
  extends Pick<PageFigures<Item>, 'filters' | 'view' | 'days' | 'incomplete' | 'ranges'> {
  readonly title: string;
  readonly columns: readonly IntervalColumn<Item>[];
}

/** A row for each interval, newest first. Its date leads to the payments of the interval. */
export const IntervalTable = <Item,>({
  title,
  columns,
  filters,
  view,
  days,
  incomplete,
  ranges,
}: IntervalTableProps<Item>) => (
  <Section title={title}>
    <DataTable
      caption={title}
      columns={[
        {
          title: 'Interval',
          render: ({ index, range }) => (
            <RowsLink segment={filters.segment} range={range}>
              {formatDay(days[index] ?? range.first)}
              {incomplete.includes(index) && ', not complete'}
            </RowsLink>
          ),
          csv: ({ range }) => range.first,
        },
        { title: 'Last day', csv: ({ range }) => range.last },
        ...columns.map(({ label, read, format }) => ({
          title: label,
          align: 'end' as const,
          render: ({ item }: { readonly item: Item }) => <Value value={read([item])} format={format} />,
          csv: ({ item }: { readonly item: Item }) => read([item]),
        })),
      ]}
      rows={view.items
        ?.map((item, index) => ({ item, index, range: ranges[index] ?? { first: '', last: '' } }))
        .reverse()}
      getKey={({ range }) => range.first}
      isStale={view.isStale}
      empty={<EmptyState title="This period has no figures." />}
      fileName={title.toLowerCase().replace(/\W+/g, '-')}
    />
  </Section>
);
