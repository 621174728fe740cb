interface TimingBarProps {
  readonly startMs: number;
  readonly durationMs: number;
  /** Time that the width of the bar stands for. */
  readonly totalMs: number;
}

/** Position of a call in the time of its event. The table has the duration as text. */
export const TimingBar = ({ startMs, durationMs, totalMs }: TimingBarProps) => (
  <svg class="timing" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" focusable="false">
    <rect class="timing-track" width="100" height="10" />
    <rect
      class="timing-bar"
      x={toPercent(startMs, totalMs)}
      width={Math.max(1.5, toPercent(durationMs, totalMs))}
      height="10"
    />
  </svg>
);

const toPercent = (ms: number, totalMs: number): number => (totalMs === 0 ? 0 : (ms / totalMs) * 100);
