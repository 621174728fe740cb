/** A clock whose offset is in memory shared with the worker threads: setting it changes the time of all of them. */
export interface SharedClock {
  readonly now: () => number;
  readonly set: (ms: number) => void;
  /** One 64-bit float: milliseconds between this clock and real time. */
  readonly offset: SharedArrayBuffer;
}

/** Creates a clock that runs with real time until it is set. */
export function createSharedClock(): SharedClock {
  const offset = new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT);
  const [view, real] = [new Float64Array(offset), Date.now.bind(Date)];
  return {
    offset,
    now: () => real() + (view[0] ?? 0),
    set: (ms) => {
      view[0] = ms - real();
    },
  };
}
