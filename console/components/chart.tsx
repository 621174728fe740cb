import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import UPlot from 'uplot';
import { formatDay, formatNumber, formatShortDay } from '../format.ts';
import { useTheme } from '../theme.ts';
import { type Column, DataTable } from './data-table.tsx';

interface ChartSeries {
  readonly label: string;
  /** One value for each day; null if there is none. */
  readonly values: readonly (number | null)[];
}

interface ChartProps {
  readonly title: string;
  /** Days `2026-03-01` or months `2026-03`, ascending. */
  readonly days: readonly string[];
  /** At most four. */
  readonly series: readonly ChartSeries[];
  readonly kind?: 'line' | 'bars';
  readonly format?: (value: number) => string;
  /** Positions of the days or months that are not complete. They are shaded. */
  readonly incomplete?: readonly number[];
  /** Dims the chart while new values are loading. */
  readonly isStale?: boolean;
}

const height = 220;

/**
 * A chart of values over time. The pointer and the arrow keys select a day, whose values are shown above the chart; the
 * same values are in a table below it.
 */
export function Chart(props: ChartProps) {
  const { title, days, series, kind = 'line', format = formatNumber, incomplete = [], isStale = false } = props;
  const [hovered, setHovered] = useState<number | undefined>();
  const plot = useRef<UPlot | undefined>(undefined);
  const last = days.length - 1;
  const selected = Math.min(hovered ?? last, last);
  const day = days[selected];
  const dayText = day === undefined ? undefined : formatInterval(day, incomplete.includes(selected));
  const summary = series.map(({ label, values }) => `${label} ${toText(values[selected], format)}`).join(', ');
  const select = (index: number) => {
    const target = Math.max(0, Math.min(last, index));
    setHovered(target);
    const { current } = plot;
    const x = current?.data[0][target];
    if (current && x !== undefined) current.setCursor({ left: current.valToPos(x, 'x'), top: 0 }, false);
  };
  const handleKey = (event: KeyboardEvent) => {
    const targets: Readonly<Record<string, number>> = {
      ArrowLeft: selected - 1,
      ArrowRight: selected + 1,
      Home: 0,
      End: last,
    };
    const target = targets[event.key];
    if (target === undefined) return;
    event.preventDefault();
    select(target);
  };
  return (
    <figure class={isStale ? 'chart is-stale' : 'chart'} aria-busy={isStale}>
      <figcaption class="chart-readout">
        <span class="chart-day number">{dayText ?? '\u00a0'}</span>
        {series.map(({ label, values }, index) => (
          <span key={label} class="chart-value">
            <span class={`chart-mark chart-mark-${index}`} aria-hidden="true" />
            {label} <strong class="number">{toText(values[selected], format)}</strong>
          </span>
        ))}
      </figcaption>
      <div
        class="chart-plot"
        role="slider"
        tabIndex={0}
        aria-label={`${title}, chart`}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, last)}
        aria-valuenow={Math.max(0, selected)}
        aria-valuetext={dayText === undefined ? 'No values' : `${dayText}: ${summary}`}
        onKeyDown={handleKey}
      >
        <Plot
          plot={plot}
          days={days}
          series={series}
          kind={kind}
          format={format}
          incomplete={incomplete}
          onHover={setHovered}
        />
      </div>
      <details class="chart-table">
        <summary>Values as a table</summary>
        <ChartTable title={title} days={days} series={series} format={format} incomplete={incomplete} />
      </details>
    </figure>
  );
}

const formatInterval = (day: string, isIncomplete: boolean): string =>
  isIncomplete ? `${formatDay(day)}, not complete` : formatDay(day);

const toText = (value: number | null | undefined, format: (value: number) => string): string =>
  value === null || value === undefined ? '–' : format(value);

type PlotProps = Required<Pick<ChartProps, 'days' | 'series' | 'kind' | 'format' | 'incomplete'>> & {
  readonly plot: { current: UPlot | undefined };
  readonly onHover: (index: number | undefined) => void;
};

/** The canvas. It is created again if data, theme or size change: this takes milliseconds. */
function Plot({ plot, days, series, kind, format, incomplete, onHover }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const colorScheme = useColorScheme();
  const content = JSON.stringify([days, series, kind, incomplete]);
  // `content` stands for the data, and `colorScheme` for the colors.
  useEffect(() => {
    const { current } = box;
    if (!current || width === 0 || days.length === 0) return;
    const data = [days.map(toSeconds), ...series.map(({ values }) => [...values])] as UPlot.AlignedData;
    const created = new UPlot(
      buildOptions(current, {
        width,
        labels: series.map(({ label }) => label),
        isMonthly: days[0]?.length === 7,
        kind,
        format,
        incomplete,
        onHover,
      }),
      data,
      current,
    );
    plot.current = created;
    return () => {
      plot.current = undefined;
      created.destroy();
    };
  }, [content, width, colorScheme]);
  return <div ref={box} class="chart-canvas" />;
}

const toSeconds = (day: string): number => Date.parse(day.length === 7 ? `${day}-01` : day) / 1_000;

interface PlotOptions {
  readonly width: number;
  readonly labels: readonly string[];
  readonly isMonthly: boolean;
  readonly kind: 'line' | 'bars';
  readonly format: (value: number) => string;
  readonly incomplete: readonly number[];
  readonly onHover: (index: number | undefined) => void;
}

function buildOptions(
  element: HTMLElement,
  { width, labels, isMonthly, kind, format, incomplete, onHover }: PlotOptions,
): UPlot.Options {
  const color = (name: string): string => resolveColor(element, name);
  const axis = {
    stroke: color('text-quiet'),
    font: `11px ${getComputedStyle(element).fontFamily}`,
    grid: { stroke: color('grid'), width: 1 },
    ticks: { show: false },
  };
  const bars = UPlot.paths.bars?.({ size: [0.7, 40], radius: 0.15 });
  return {
    width,
    height,
    padding: [8, 20, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
    // A chart of zeros has its line at the bottom.
    scales: {
      x: { range: (_plot, min, max) => padRange([min, max], { kind, isMonthly }) },
      y: { range: (_plot, min, max) => [Math.min(0, min), max > 0 ? max * 1.08 : 1] },
    },
    tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 30,
        space: 70,
        incrs: dayIncrements,
        values: (_plot, values) => values.map((seconds) => formatShortDay(seconds * 1_000, isMonthly)),
      },
      { ...axis, size: 60, space: 36, values: (_plot, values) => values.map((value) => format(value)) },
    ],
    series: [
      {},
      ...labels.map((label, index) => ({
        label,
        stroke: color(`series-${index}`),
        width: 2,
        points: { show: false },
        ...(labels.length === 1 && kind === 'line' && { fill: color('series-fill') }),
        ...(kind === 'bars' && bars && { fill: color(`series-${index}`), width: 0, paths: bars }),
      })),
    ],
    hooks: {
      setCursor: [({ cursor }) => onHover(cursor.idx ?? undefined)],
      drawClear: [(plot) => shadeIntervals(plot, incomplete, color('surface-raised'))],
    },
  };
}

/** Shades intervals from the middle of their distance to the previous one to the middle to the next one. */
function shadeIntervals(plot: UPlot, positions: readonly number[], color: string): void {
  const { ctx, bbox } = plot;
  const [xs] = plot.data;
  const toX = (index: number) => plot.valToPos(xs[index] ?? 0, 'x', true);
  const width = xs.length < 2 ? bbox.width : toX(1) - toX(0);
  ctx.save();
  ctx.fillStyle = color;
  for (const position of positions) {
    const from = Math.max(bbox.left, toX(position) - width / 2);
    const to = Math.min(bbox.left + bbox.width, toX(position) + width / 2);
    if (to > from) ctx.fillRect(from, bbox.top, to - from, bbox.height);
  }
  ctx.restore();
}

const daySeconds = 86_400;
/** Distances of the dates of the axis; from 28 days on, uPlot aligns them to months. */
const dayIncrements = [1, 2, 3, 5, 7, 14, 31, 62, 93, 186, 366].map((days) => days * daySeconds);

/** Adds half of the distance of two bars on both sides, so that the first and the last bar are complete. */
function padRange(
  [min, max]: readonly [number, number],
  { kind, isMonthly }: Pick<PlotOptions, 'kind' | 'isMonthly'>,
): [number, number] {
  const padding = kind === 'line' ? 0 : isMonthly ? 16 * daySeconds : daySeconds * 0.55;
  return [min - padding, max + padding];
}

/** Returns the color of a custom property in the current theme, in a format that a canvas accepts. */
function resolveColor(element: HTMLElement, name: string): string {
  element.style.color = `var(--${name})`;
  const { color } = getComputedStyle(element);
  element.style.removeProperty('color');
  return color;
}

function ChartTable({
  title,
  days,
  series,
  format,
  incomplete,
}: Required<Pick<ChartProps, 'title' | 'days' | 'series' | 'format' | 'incomplete'>>) {
  const rows = useMemo(() => days.map((day, index) => ({ day, index })).reverse(), [days]);
  const columns: readonly Column<{ readonly day: string; readonly index: number }>[] = [
    {
      title: 'Date',
      render: ({ day, index }) => formatInterval(day, incomplete.includes(index)),
      csv: ({ day }) => day,
    },
    ...series.map(({ label, values }) => ({
      title: label,
      align: 'end' as const,
      render: ({ index }: { readonly index: number }) => <span class="number">{toText(values[index], format)}</span>,
      csv: ({ index }: { readonly index: number }) => values[index],
    })),
  ];
  return (
    <DataTable
      caption={title}
      columns={columns}
      rows={rows}
      getKey={({ day }) => day}
      empty={<p>The period has no values.</p>}
      fileName={title.toLowerCase().replace(/\W+/g, '-')}
    />
  );
}

/** Width of an element in pixels, which follows the window. */
function useWidth(box: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const { current } = box;
    if (!current) return;
    const observer = new ResizeObserver(() => setWidth(Math.floor(current.clientWidth)));
    observer.observe(current);
    return () => observer.disconnect();
  }, [box]);
  return width;
}

/** Changes if the colors change. */
function useColorScheme(): string {
  const theme = useTheme();
  const [isDark, setDark] = useState(() => darkQuery.matches);
  useEffect(() => {
    const update = () => setDark(darkQuery.matches);
    darkQuery.addEventListener('change', update);
    return () => darkQuery.removeEventListener('change', update);
  }, []);
  return `${theme} ${isDark}`;
}

const darkQuery = matchMedia('(prefers-color-scheme: dark)');
