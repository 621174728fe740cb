/** Things that happen by themselves at known moments. */
interface ScheduledItems<T> {
  /** Read anew after each happening. */
  readonly items: () => Iterable<T>;
  /** When something next happens to the item, if ever. */
  readonly dueAt: (item: T) => number | undefined;
  /** Must change the item, so that it is due later or never. */
  readonly run: (item: T, at: number) => void;
}

/** Plays all that is due up to `until`, earliest first, and tells whether that was anything. */
export function runDue<T>({ items, dueAt, run: play }: ScheduledItems<T>, until: number): boolean {
  for (let played = false; ; played = true) {
    const next = earliest(items(), dueAt);
    if (next === undefined || next.at > until) return played;
    play(next.item, next.at);
  }
}

function earliest<T>(items: Iterable<T>, dueAt: (item: T) => number | undefined): { item: T; at: number } | undefined {
  let first: { item: T; at: number } | undefined;
  for (const item of items) {
    const at = dueAt(item);
    if (at !== undefined && (first === undefined || at < first.at)) first = { item, at };
  }
  return first;
}
