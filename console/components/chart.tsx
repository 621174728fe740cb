import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import UPlot from 'uplot';
import { formatDay, formatNumber, formatShortDay, formatShortUsd, formatUsd, toFirstDay } from '../format.ts';
import { useTheme } from '../theme.ts';
import { type ChartNote, ChartNotes } from './chart-notes.ts';
import { type Column, DataTable } from './data-table.tsx';
import { shorten } from './values.tsx';

interface ChartSeries {
  readonly label: string;
  /** One value for each day; null if there is none. */
  readonly values: readonly (number | null)[];
}

interface ChartProps {
  readonly title: string;
  /** Days `2026-03-01`, months `2026-03` or quarters `2026-Q1`, ascending. */
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
/** A narrower chart has no labels at the ends of its lines. */
const minLabeledWidth = 560;
/** Dashes distinguish equal lines, and colors that a reader cannot distinguish. */
const dashes: readonly (readonly number[])[] = [[], [8, 4], [2, 4], [12, 4, 2, 4]];

interface Selection {
  readonly index: number;
  /** Distance from the left edge of the chart in pixels. */
  readonly left: number;
}

/**
 * A chart of values over time. The pointer and the arrow keys select a day, whose values are shown next to it and above
 * the chart; the same values are in a table below it. Annotations of the page are lines.
 */
export function Chart(props: ChartProps) {
  const { title, days, series, kind = 'line', format = formatNumber, incomplete = [], isStale = false } = props;
  const [selection, setSelection] = useState<Selection | undefined>();
  const plot = useRef<UPlot | undefined>(undefined);
  const notes = groupNotes(useContext(ChartNotes), days);
  const last = days.length - 1;
  const selected = Math.min(selection?.index ?? last, last);
  const day = days[selected];
  const dayText = day === undefined ? undefined : formatInterval(day, incomplete.includes(selected));
  const summary = [
    ...series.map(({ label, values }) => `${label} ${toText(values[selected], format)}`),
    ...(notes[selected] ?? []),
  ].join(', ');
  const select = (index: number) => {
    const target = Math.max(0, Math.min(last, index));
    const { current } = plot;
    const x = current?.data[0][target];
    if (current && x !== undefined) current.setCursor({ left: current.valToPos(x, 'x'), top: 0 }, true);
    else setSelection({ index: target, left: 0 });
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
  const values = series.map(({ label, values: all }, index) => (
    <span key={label} class="chart-value">
      <Mark index={index} kind={kind} />
      {label} <strong class="number">{toText(all[selected], format)}</strong>
    </span>
  ));
  return (
    <figure class={isStale ? 'chart is-stale' : 'chart'} aria-busy={isStale}>
      <figcaption class="chart-readout">
        <span class="chart-day number">{dayText ?? '\u00a0'}</span>
        {values}
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
        onBlur={() => setSelection(undefined)}
      >
        <Plot
          plot={plot}
          days={days}
          series={series}
          kind={kind}
          format={format}
          incomplete={incomplete}
          noted={Object.keys(notes).map(Number)}
          onSelect={setSelection}
        />
        {selection && selection.left > 0 && (
          <div
            class={selected > last / 2 ? 'chart-tip chart-tip-left' : 'chart-tip'}
            style={{ left: `${selection.left}px` }}
            aria-hidden="true"
          >
            <span class="chart-day number">{dayText}</span>
            {values}
            {notes[selected]?.map((text) => (
              <span key={text} class="chart-note">
                {text}
              </span>
            ))}
          </div>
        )}
      </div>
      <details class="chart-table">
        <summary>Values as a table</summary>
        <ChartTable title={title} days={days} series={series} format={format} incomplete={incomplete} notes={notes} />
      </details>
    </figure>
  );
}

/** The color and the dashes of a line, or the color of a bar. */
const Mark = ({ index, kind }: { readonly index: number; readonly kind: 'line' | 'bars' }) => (
  <svg class={`chart-mark chart-mark-${index}`} viewBox="0 0 18 9" aria-hidden="true" focusable="false">
    {kind === 'bars' ? (
      <rect width="9" height="9" x="5" rx="2" />
    ) : (
      <path d="M0 4.5h18" stroke-dasharray={dashes[index]?.map((length) => length / 1.5).join(' ')} />
    )}
  </svg>
);

type Notes = Readonly<Record<number, readonly string[]>>;

/** Returns the texts of the annotations by the position of their day, month or quarter. */
function groupNotes(notes: readonly ChartNote[], days: readonly string[]): Notes {
  const grouped: Record<number, string[]> = {};
  for (const { date, text } of notes) {
    const index = days.findLastIndex((day) => toFirstDay(day) <= date);
    if (index >= 0) grouped[index] = [...(grouped[index] ?? []), `${formatDay(date)}: ${text}`];
  }
  return grouped;
}

const formatInterval = (day: string, isIncomplete: boolean): string =>
  isIncomplete ? `${formatDay(day)}, not complete` : formatDay(day);

const toText = (value: number | null | undefined, format: (value: number) => string): string =>
  value === null || value === undefined ? '–' : format(value);

interface PlotOptions extends Required<Pick<ChartProps, 'days' | 'series' | 'kind' | 'format' | 'incomplete'>> {
  /** Positions with annotations. */
  readonly noted: readonly number[];
  readonly onSelect: (selection: Selection | undefined) => void;
}

/** The canvas. It is created again if data, theme or size change: this takes milliseconds. */
function Plot({ plot, ...options }: PlotOptions & { readonly plot: { current: UPlot | undefined } }) {
  const { days, series, kind, incomplete, noted } = options;
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const colorScheme = useColorScheme();
  const content = JSON.stringify([days, series, kind, incomplete, noted]);
  // `content` stands for the data, and `colorScheme` for the colors.
  useEffect(() => {
    const { current } = box;
    if (!current || width === 0 || days.length === 0) return;
    const data = [days.map(toSeconds), ...series.map(({ values }) => [...values])] as UPlot.AlignedData;
    const created = new UPlot(buildOptions(current, width, options), data, current);
    plot.current = created;
    return () => {
      plot.current = undefined;
      created.destroy();
    };
  }, [content, width, colorScheme]);
  return <div ref={box} class="chart-canvas" />;
}

const toSeconds = (day: string): number => Date.parse(toFirstDay(day)) / 1_000;

function buildOptions(
  element: HTMLElement,
  width: number,
  { days, series, kind, format, incomplete, noted, onSelect }: PlotOptions,
): UPlot.Options {
  const color = (name: string): string => resolveColor(element, name);
  const font = `11px ${getComputedStyle(element).fontFamily}`;
  const colors = series.map((_, index) => color(`series-${index}`));
  const isLabeled = kind === 'line' && series.length > 1 && width >= minLabeledWidth;
  const labels = isLabeled ? series.map(({ label }) => shorten(label, maxLabelLength)) : [];
  const labelWidth = Math.max(0, ...labels.map((label) => measureText(label, font)));
  const axis = {
    stroke: color('text-quiet'),
    font,
    grid: { stroke: color('grid'), width: 1 },
    ticks: { show: false },
  };
  const bars = UPlot.paths.bars?.({ size: [0.7, 40], radius: 0.15 });
  const isEmpty = series.every(({ values }) => values.every((value) => !value));
  return {
    width,
    height,
    padding: [10, Math.max(20, labelWidth + 12), 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: false, y: false },
      points: { show: kind === 'line', size: 7 },
      // Snaps to the values.
      move: (u, left, top) => [left < 0 ? left : u.valToPos(u.data[0][u.posToIdx(left)] ?? 0, 'x'), top],
    },
    // A chart of zeros has its line at the bottom.
    scales: {
      x: { range: (_plot, min, max) => padRange([min, max], { kind, days }) },
      y: { range: (_plot, min, max) => [Math.min(0, min), max > 0 ? max * 1.08 : 1] },
    },
    tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 34,
        gap: 9,
        splits: (u) => {
          const step = Math.ceil(days.length / Math.max(2, Math.floor(u.bbox.width / devicePixelRatio / 76)));
          return [...u.data[0]].filter((_, index) => index % step === 0);
        },
        values: (u, values) =>
          values.map((seconds, index) => formatShortDay(days[u.data[0].indexOf(seconds)] ?? '', index === 0)),
      },
      {
        ...axis,
        size: (_plot, values) => 14 + Math.max(24, ...(values ?? []).map((value) => measureText(value, font))),
        space: 36,
        ...(isEmpty && { splits: () => [0] }),
        ...(format === formatNumber && { incrs: countIncrements }),
        values: (_plot, values) => formatAxis(values, format),
      },
    ],
    series: [
      {},
      ...series.map(({ label }, index) => ({
        label,
        stroke: colors[index] ?? '',
        width: 2,
        dash: [...(dashes[index] ?? [])],
        points: kind === 'line' ? { filter: findIsolated } : { show: false },
        ...(series.length === 1 && kind === 'line' && { fill: color('series-fill') }),
        ...(kind === 'bars' && bars && { fill: colors[index] ?? '', width: 0, paths: bars }),
      })),
    ],
    hooks: {
      setCursor: [
        ({ cursor: { idx, left = -1 }, over }) =>
          onSelect(idx == null || left < 0 ? undefined : { index: idx, left: left + over.offsetLeft }),
      ],
      drawClear: [
        (plot) => shadeIntervals(plot, incomplete, color('surface-raised')),
        (plot) => drawNotes(plot, noted, color('text-quiet')),
      ],
      draw: [(plot) => drawLabels(plot, labels, { colors, font })],
    },
  };
}

/** Finds the values without a neighbor, which no line shows. */
const findIsolated = ({ data: [xs, ...all] }: UPlot, index: number): number[] => {
  const isMissing = (position: number) => all[index - 1]?.[position] == null;
  return [...xs.keys()].filter((x) => !isMissing(x) && isMissing(x - 1) && isMissing(x + 1));
};

/** Whole steps of a number of things. */
const countIncrements = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();

/** Formats the values of an axis: amounts without cents, unless the steps are smaller than a dollar. */
const formatAxis = (values: readonly number[], format: (value: number) => string): string[] =>
  values.map(format === formatUsd && values.every(Number.isInteger) ? formatShortUsd : format);

/** `premium_monthly, Google Play` is whole. The end of a longer label has the store. */
const maxLabelLength = 28;

const canvas = document.createElement('canvas');

/** Returns the width of a text in pixels. */
function measureText(text: string, font: string): number {
  const context = canvas.getContext('2d');
  if (!context) return 0;
  context.font = font;
  return Math.ceil(context.measureText(text).width);
}

const labelHeight = 13;

/** Draws the name of each line at its end, one below the other where lines meet. */
function drawLabels(
  { ctx, bbox, data, valToPos }: UPlot,
  labels: readonly string[],
  { colors, font }: { readonly colors: readonly string[]; readonly font: string },
): void {
  ctx.save();
  ctx.scale(devicePixelRatio, devicePixelRatio);
  ctx.font = font;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  let free = 0;
  const ends = labels
    .flatMap((label, index) => {
      const value = [...(data[index + 1] ?? [])].findLast((candidate) => candidate != null);
      if (value == null) return [];
      return { label, color: colors[index] ?? '', y: valToPos(value, 'y', true) / devicePixelRatio };
    })
    .sort((a, b) => a.y - b.y);
  // Labels at the bottom move up.
  const bottom = (bbox.top + bbox.height) / devicePixelRatio - (ends.length - 1) * labelHeight;
  for (const [index, { label, color, y }] of ends.entries()) {
    free = Math.max(free, Math.min(y, bottom + index * labelHeight));
    ctx.fillStyle = color;
    ctx.fillText(label, (bbox.left + bbox.width) / devicePixelRatio + 6, free);
    free += labelHeight;
  }
  ctx.restore();
}

/** Draws a line with a dot for each annotated day. */
function drawNotes({ ctx, bbox, data: [xs], valToPos }: UPlot, positions: readonly number[], color: string): void {
  ctx.save();
  ctx.strokeStyle = color;
  ctx.fillStyle = color;
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const position of positions) {
    const x = valToPos(xs[position] ?? 0, 'x', true);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.beginPath();
    ctx.arc(x, bbox.top, 3.5 * devicePixelRatio, 0, 2 * Math.PI);
    ctx.fill();
  }
  ctx.restore();
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

/** Adds half of the distance of two bars on both sides, so that the first and the last bar are complete. */
function padRange(
  [min, max]: readonly [number, number],
  { kind, days }: Pick<PlotOptions, 'kind' | 'days'>,
): [number, number] {
  const [first = '', second] = days;
  const distance = second === undefined ? daySeconds : toSeconds(second) - toSeconds(first);
  const padding = kind === 'line' && days.length > 1 ? 0 : distance * 0.55;
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
  notes,
}: Required<Pick<ChartProps, 'title' | 'days' | 'series' | 'format' | 'incomplete'>> & { readonly notes: Notes }) {
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
    ...(Object.keys(notes).length > 0
      ? [
          {
            title: 'Annotations',
            render: ({ index }: { readonly index: number }) => notes[index]?.join('; '),
            csv: ({ index }: { readonly index: number }) => notes[index]?.join('; '),
          },
        ]
      : []),
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
