/** Items with scheduled transitions. */
interface ScheduledItems<T> {
  /** Read again after each transition. */
  readonly items: () => Iterable<T>;
  /** Time of the item's next transition; undefined if the item is not scheduled. */
  readonly dueAt: (item: T) => number | undefined;
  /** Runs the transition. It must move the item's due time forward or remove it. */
  readonly run: (item: T, at: number) => void;
}

/** Scheduled transitions of a store. */
export interface Schedule {
  /**
   * Runs all transitions that are due until the time, the earliest first. Returns the time of the next one; undefined
   * if nothing is scheduled.
   */
  readonly advanceTo: (time: number) => number | undefined;
}

export const createSchedule = <T>(scheduled: ScheduledItems<T>): Schedule => ({
  advanceTo: (time) => runDue(scheduled, time),
});

/** Returns the earliest of the times that are defined. */
export function findEarliestTime(times: readonly (number | undefined)[]): number | undefined {
  const defined = times.filter((time) => time !== undefined);
  return defined.length === 0 ? undefined : Math.min(...defined);
}

function runDue<T>({ items, dueAt, run }: ScheduledItems<T>, until: number): number | undefined {
  for (;;) {
    const next = findEarliest(items(), dueAt);
    if (next === undefined || next.at > until) return next?.at;
    run(next.item, next.at);
  }
}

function findEarliest<T>(
  items: Iterable<T>,
  dueAt: (item: T) => number | undefined,
): { item: T; at: number } | undefined {
  let earliest: { item: T; at: number } | undefined;
  for (const item of items) {
    const at = dueAt(item);
    if (at !== undefined && (earliest === undefined || at < earliest.at)) earliest = { item, at };
  }
  return earliest;
}
