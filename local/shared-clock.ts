/** A clock whose offset lies in memory that worker threads share: moving it moves the time of them all. */
export interface SharedClock {
  readonly now: () => number;
  readonly set: (ms: number) => void;
  /** One 64-bit float: milliseconds between this clock and real time. */
  readonly offset: SharedArrayBuffer;
}

/** A clock that runs with real time until it is moved. */
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
