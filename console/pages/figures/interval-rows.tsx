import type { StatsInterval } from '../../../lib/statistics/breakdown-contract.ts';
import { DataTable } from '../../components/data-table.tsx';
import { Section } from '../../components/layout.tsx';
import { EmptyState } from '../../components/notice.tsx';
import { formatDay } from '../../format.ts';
import { describeRange, listIncomplete, type Period, toChartDays, toIntervals } from '../periods.ts';
import type { FigureMetric, FiguresView } from './figures-view.ts';
import { Value } from './group-section.tsx';
import { RowsLink } from './rows-link.tsx';
import type { RowsKind } from './segments.ts';

export type IntervalColumn<Item> = FigureMetric<Item> & { readonly rowsKind?: RowsKind };

/** Positions and names of the intervals in charts and tables. */
interface Axis {
  readonly days: readonly string[];
  readonly incomplete: readonly number[];
  readonly ranges: readonly { readonly first: string; readonly last: string }[];
  /** Name of the days before in a sentence. */
  readonly label: string | undefined;
}

export function toAxis(
  rows: readonly { readonly date: string }[],
  { period, interval, now }: { readonly period: Period; readonly interval: StatsInterval; readonly now: number },
): Axis {
  const parts = toIntervals(
    rows.map(({ date }) => date),
    period.current,
    now,
  );
  return {
    days: toChartDays(parts, interval),
    incomplete: listIncomplete(parts, interval, now),
    ranges: parts.map(({ date, enddate }) => ({ first: date, last: enddate })),
    label: period.label,
  };
}

/** Describes which days are compared. */
export const describeDays = ({ complete, previous }: Period): string | undefined =>
  complete && previous && `Changes compare ${describeRange(complete)} with ${describeRange(previous)}.`;

interface IntervalTableProps<Item> {
  readonly title: string;
  readonly columns: readonly IntervalColumn<Item>[];
  readonly view: FiguresView<Item>;
  readonly axis: Axis;
}

/** A row for each interval, newest first. Its date leads to the payments of the interval. */
export const IntervalTable = <Item,>({ title, columns, view, axis }: IntervalTableProps<Item>) => (
  <Section title={title}>
    <DataTable
      caption={title}
      columns={[
        {
          title: 'Interval',
          render: ({ index, range }) => (
            <RowsLink segment={view.segment} range={range}>
              {formatDay(axis.days[index] ?? range.first)}
              {axis.incomplete.includes(index) && ', not complete'}
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
        ?.map((item, index) => ({ item, index, range: axis.ranges[index] ?? { first: '', last: '' } }))
        .reverse()}
      getKey={({ range }) => range.first}
      isStale={view.isStale}
      empty={<EmptyState title="This period has no figures." />}
      fileName={title.toLowerCase().replace(/\W+/g, '-')}
    />
  </Section>
);
