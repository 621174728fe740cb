import { createWakeup } from './wakeup.ts';

/** A clock whose offset is in memory shared with the threads of the functions: setting it changes the time of all. */
export interface SharedClock {
  readonly now: () => number;
  /** The clock stays at the time of this machine. */
  readonly isFixed: boolean;
  readonly set: (ms: number) => void;
  /** Calls the listener after each `set` until the returned function is called. */
  readonly onSet: (listener: () => void) => () => void;
  /** Waits until the clock passes the time or the signal aborts. */
  readonly waitUntil: (ms: number, signal: AbortSignal) => Promise<void>;
  /** One 64-bit float: milliseconds between this clock and real time. */
  readonly offset: SharedArrayBuffer;
}

/** Timers of Node accept up to 24.8 days. Real time can be set: a wait never relies on one long timer. */
const maxTimerMs = 60_000;

/** Creates a clock that runs with real time until it is set. A fixed one is never set. */
export function createSharedClock({ isFixed = false } = {}): SharedClock {
  const offset = new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT);
  const [view, real] = [new Float64Array(offset), Date.now.bind(Date)];
  const now = (): number => real() + (view[0] ?? 0);
  const changes = createWakeup();
  const listeners = new Set<() => void>();
  return {
    offset,
    isFixed,
    now,
    set: (ms) => {
      view[0] = ms - real();
      changes.wake();
      for (const listener of listeners) listener();
    },
    onSet: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    waitUntil: async (ms, signal) => {
      for (;;) {
        const { count } = changes;
        const remainingMs = ms - now();
        if (remainingMs <= 0 || signal.aborted) return;
        await changes.wait(count, Math.min(Math.ceil(remainingMs), maxTimerMs), signal);
      }
    },
  };
}
