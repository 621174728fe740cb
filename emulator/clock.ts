/** The time that the emulated stores live in, in epoch milliseconds; it can be moved. */
export interface Clock {
  readonly now: () => number;
  readonly set: (ms: number) => void;
}

/** A clock that runs with real time from whatever moment it was set to. */
export function createClock(): Clock {
  let offsetMs = 0;
  return {
    now: () => Date.now() + offsetMs,
    set: (ms) => {
      offsetMs = ms - Date.now();
    },
  };
}
