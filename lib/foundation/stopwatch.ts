/**
 * Measures and limits durations. Independent of the service clock, which the emulator can move. A stopwatch of a test
 * can be slower than real time or stand still, because a busy machine must not exceed a limit.
 */
export interface Stopwatch {
  /** Returns the milliseconds since an arbitrary time. Never decreases. */
  readonly readMs: () => number;
  /** Returns a signal that aborts after a duration. */
  readonly abortAfter: (durationMs: number) => AbortSignal;
}

/** Creates a stopwatch. With a `factor` of 10, each limit is reached after ten times its duration. */
export const createStopwatch = (factor = 1): Stopwatch => ({
  readMs: () => performance.now() / factor,
  abortAfter: (durationMs) => AbortSignal.timeout(Math.ceil(durationMs * factor)),
});
