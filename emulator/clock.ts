/** Adjustable clock of the emulated stores, in epoch milliseconds. */
export interface Clock {
  readonly now: () => number;
  readonly isFixed?: boolean;
  readonly set: (ms: number) => void;
}

/** Creates a clock that runs at real speed from the time that was set last. */
export function createClock(): Clock {
  let offsetMs = 0;
  return {
    now: () => Date.now() + offsetMs,
    set: (ms) => {
      offsetMs = ms - Date.now();
    },
  };
}
