import { minuteMs, secondMs } from '../foundation/time.ts';
import { createFinding, type Finding } from './finding.ts';

/** Apple accepts tokens that were issued up to a minute in the future. */
const toleranceMs = minuteMs;

/** The difference to another clock is unknown without a response. */
export const isClockWrong = (offsetMs: number | undefined): boolean =>
  offsetMs !== undefined && Math.abs(offsetMs) > toleranceMs;

/** Creates the finding of a wrong clock. `offsetMs` is positive if the clock of this machine is ahead. */
export function createClockFinding(offsetMs: number | undefined): Finding {
  const difference =
    offsetMs === undefined
      ? 'wrong'
      : `${formatDuration(Math.abs(offsetMs))} ${offsetMs > 0 ? 'ahead of' : 'behind'} the clocks of the stores`;
  return createFinding('clock-wrong', {
    problem: `The clock of this machine is ${difference}, so stores and AWS reject requests from it.`,
    cure: 'Synchronize the clock with NTP, for example with `timedatectl set-ntp true`, and run the command again.',
  });
}

/** Formats a duration in its largest suitable unit, such as `12 minutes`. */
export function formatDuration(durationMs: number): string {
  const units = [
    ['day', 24 * 60 * minuteMs],
    ['hour', 60 * minuteMs],
    ['minute', minuteMs],
    ['second', secondMs],
  ] as const;
  const [name, unitMs] = units.find(([, ms]) => durationMs >= 2 * ms) ?? ['second', secondMs];
  const count = Math.round(durationMs / unitMs);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}
