import { Chart } from '../../components/chart.tsx';
import { Section } from '../../components/layout.tsx';
import { formatNumber } from '../../format.ts';
import type { FigureMetric } from './figures-view.ts';
import type { PageFigures } from './use-figures.ts';

interface FigureChartProps<Item> extends Pick<PageFigures<Item>, 'view' | 'days' | 'incomplete'> {
  readonly title: string;
  readonly description?: string;
  /** Title of the chart, if it differs from the section's. */
  readonly chartTitle?: string;
  readonly kind?: 'bars';
  readonly metrics: readonly FigureMetric<Item>[];
}

/** A section with the course of figures of one format. */
export const FigureChart = <Item,>(props: FigureChartProps<Item>) => {
  const { title, description, chartTitle = title, kind = 'line', metrics, view, days, incomplete } = props;
  return (
    <Section title={title} description={description}>
      <Chart
        title={chartTitle}
        kind={kind}
        series={metrics.map(({ label, read }) => ({
          label,
          values: (view.items ?? []).map((item) => read([item]) ?? null),
        }))}
        format={metrics[0]?.format ?? formatNumber}
        days={days}
        incomplete={incomplete}
        isStale={view.isStale}
      />
    </Section>
  );
};
