interface SparklineProps {
  /** Null if there is no value. */
  readonly values: readonly (number | null)[];
}

const [width, height] = [100, 28];

/** The course of a figure, without an axis. The figure has its value as text. */
export function Sparkline({ values }: SparklineProps) {
  const known = values.filter((value) => value !== null);
  const [min, max] = [Math.min(0, ...known), Math.max(0, ...known)];
  const toPoint = (value: number, index: number): string =>
    `${((index / Math.max(1, values.length - 1)) * width).toFixed(1)} ${(height - 2 - ((value - min) / (max - min || 1)) * (height - 4)).toFixed(1)}`;
  const points = values.flatMap((value, index) => (value === null ? [] : toPoint(value, index)));
  return (
    <svg class="sparkline" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      {points.length > 1 && <path d={`M${points.join('L')}`} />}
    </svg>
  );
}
