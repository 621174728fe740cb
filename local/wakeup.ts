/** Ends waits early. A wake-up between two waits is not lost: a wait ends at once if `count` has changed. */
export interface Wakeup {
  readonly count: number;
  wake(): void;
  /** Waits for a wake-up after the given count, for the given time or until the signal aborts. */
  wait(count: number, ms: number, signal: AbortSignal): Promise<void>;
}

export function createWakeup(): Wakeup {
  let count = 0;
  const waiting = new Set<() => void>();
  return {
    get count() {
      return count;
    },
    wake() {
      count++;
      for (const end of [...waiting]) end();
    },
    async wait(seen, ms, signal) {
      if (count !== seen || signal.aborted) return;
      await new Promise<void>((resolve) => {
        const end = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', end);
          waiting.delete(end);
          resolve();
        };
        const timer = setTimeout(end, ms);
        signal.addEventListener('abort', end);
        waiting.add(end);
      });
    },
  };
}
