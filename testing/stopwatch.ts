import type { Stopwatch } from '../lib/foundation/stopwatch.ts';

interface ManualStopwatch extends Stopwatch {
  readonly advance: (ms: number) => void;
}

/** Creates a stopwatch that only the test advances. It aborts no call. */
export function createManualStopwatch(): ManualStopwatch {
  let elapsedMs = 0;
  return {
    readMs: () => elapsedMs,
    abortAfter: () => new AbortController().signal,
    advance: (ms) => {
      elapsedMs += ms;
    },
  };
}

/** Stands still: no call exceeds a limit, however busy the machine is. */
export const stoppedStopwatch: Stopwatch = createManualStopwatch();
