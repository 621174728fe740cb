import { Figure, Figures } from '../../components/values.tsx';
import { describeChange } from '../describe-change.ts';
import type { FigureMetric, FiguresView } from './figures-view.ts';
import type { IntervalColumn } from './interval-rows.tsx';
import { RowsLink } from './rows-link.tsx';
import type { PageFigures } from './use-figures.ts';

interface FigureSummaryProps<Item> extends Pick<PageFigures<Item>, 'filters' | 'view' | 'range' | 'label'> {
  readonly metrics: readonly IntervalColumn<Item>[];
}

/** The figures of the period, each with its change and a link to its rows. */
export const FigureSummary = <Item,>({ metrics, filters, view, range, label }: FigureSummaryProps<Item>) => (
  <Figures isStale={view.isStale}>
    {metrics.map((metric) => (
      <Figure
        key={metric.id}
        label={metric.label}
        value={view.whole && <Value metric={metric} whole={view.whole} filters={filters} range={range} />}
        detail={describe(metric, view, label)}
      />
    ))}
  </Figures>
);

function Value<Item>({
  metric: { read, format, rowsKind },
  whole,
  filters,
  range,
}: Pick<FigureSummaryProps<Item>, 'filters' | 'range'> & {
  readonly metric: IntervalColumn<Item>;
  readonly whole: readonly Item[];
}) {
  const value = read(whole);
  if (value === undefined) return '–';
  return (
    <RowsLink kind={rowsKind} segment={filters.segment} range={range}>
      {format(value)}
    </RowsLink>
  );
}

function describe<Item>(
  { read, format }: FigureMetric<Item>,
  { whole, complete, previous, isStale }: FiguresView<Item>,
  label: string | undefined,
): string | undefined {
  if (isStale || !complete || !previous || label === undefined) return undefined;
  const [now, before] = [read(complete), read(previous)];
  if (before === undefined) return `None in ${label}`;
  return now === undefined
    ? `${format(before)} in ${label}`
    : describeChange({ current: now, shown: whole && read(whole), previous: before, format, label });
}
