import { Figure, Figures } from '../../components/values.tsx';
import { describeChange } from '../describe-change.ts';
import type { Range } from '../periods.ts';
import type { FigureMetric, FiguresView } from './figures-view.ts';
import { RowsLink } from './rows-link.tsx';
import type { RowsKind } from './segments.ts';

interface FigureSummaryProps<Item> {
  readonly metrics: readonly (FigureMetric<Item> & { readonly rowsKind?: RowsKind })[];
  readonly view: FiguresView<Item>;
  readonly range: Range;
  /** Name of the days or cohorts before in a sentence. */
  readonly label: string | undefined;
}

/** The figures of the period, each with its change and a link to its rows. */
export const FigureSummary = <Item,>({ metrics, view, range, label }: FigureSummaryProps<Item>) => (
  <Figures isStale={view.isStale}>
    {metrics.map((metric) => (
      <Figure
        key={metric.id}
        label={metric.label}
        value={view.items && <Value metric={metric} items={view.items} view={view} range={range} />}
        detail={describe(metric, view, label)}
      />
    ))}
  </Figures>
);

function Value<Item>({
  metric: { read, format, rowsKind },
  items,
  view,
  range,
}: Omit<FigureSummaryProps<Item>, 'metrics' | 'label'> & {
  readonly metric: FigureSummaryProps<Item>['metrics'][number];
  readonly items: readonly Item[];
}) {
  const value = read(items);
  if (value === undefined) return '–';
  return (
    <RowsLink kind={rowsKind} segment={view.segment} range={range}>
      {format(value)}
    </RowsLink>
  );
}

function describe<Item>(
  { read, format }: FigureMetric<Item>,
  { items, complete, previous, isStale }: FiguresView<Item>,
  label: string | undefined,
): string | undefined {
  if (isStale || !complete || !previous || label === undefined) return undefined;
  const [now, before] = [read(complete), read(previous)];
  if (before === undefined) return `None in ${label}`;
  return now === undefined
    ? `${format(before)} in ${label}`
    : describeChange({ current: now, shown: items && read(items), previous: before, format, label });
}
