/** Counts of what a random history has played. */
export interface StepCounts {
  /** Counts a step of a kind. */
  countStep(kind: string): void;
  /** Counts what is no step: a crash, a refusal, an action at a store. */
  countOther(kind: string, count?: number): void;
  /** Returns the number of steps. */
  getTotal(): number;
  /** Returns a line with all counts. */
  describe(): string;
}

export function createStepCounts(): StepCounts {
  const startedAt = performance.now();
  const steps = new Map<string, number>();
  const others = new Map<string, number>();
  const add = (counts: Map<string, number>, kind: string, count: number) =>
    void counts.set(kind, (counts.get(kind) ?? 0) + count);
  const getTotal = (): number => [...steps.values()].reduce((sum, count) => sum + count, 0);
  return {
    countStep: (kind) => add(steps, kind, 1),
    countOther: (kind, count = 1) => add(others, kind, count),
    getTotal,
    describe() {
      const seconds = Math.round((performance.now() - startedAt) / 1000);
      return `${getTotal()} steps in ${seconds} s: ${list(steps)}. In addition: ${list(others)}.`;
    },
  };
}

const list = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([kind, count]) => `${kind} ${count}`)
    .join(', ');
