import { statSync } from 'node:fs';
import { secondMs } from '../../lib/foundation/time.ts';

interface FilePosition {
  readonly path: string;
  readonly bytesDone: number;
  /** Bytes that an earlier run has done. */
  readonly resumedBytes?: number;
  readonly elapsedMs: number;
}

/** Formats the share of a file that is done, such as `40 %`, and the time for the rest, such as `, 12 min left`. */
export function formatPosition({ path, bytesDone, resumedBytes = 0, elapsedMs }: FilePosition) {
  const { size } = statSync(path);
  const remainingMs = ((size - bytesDone) * elapsedMs) / Math.max(1, bytesDone - resumedBytes);
  return {
    percent: `${Math.floor((100 * bytesDone) / Math.max(1, size))} %`,
    remaining: bytesDone < size ? `, ${formatDuration(remainingMs / secondMs)} left` : '',
  };
}

function formatDuration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 90 * 60 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
