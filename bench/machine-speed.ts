import { fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';

/** Time of a fixed loop of hashing, JSON and promises, on one processor and on all at the same time. */
interface MachineSpeed {
  readonly oneMs: number;
  /** The slowest of them. */
  readonly allMs: number;
}

/** Measures the speed of the machine, so that figures of different machines can be compared. */
export async function measureMachineSpeed(): Promise<MachineSpeed> {
  const [oneMs = Number.NaN] = await runLoops(1);
  return { oneMs, allMs: Math.max(...(await runLoops(availableParallelism()))) };
}

async function runLoops(count: number): Promise<number[]> {
  return await Promise.all(
    Array.from({ length: count }, async () => {
      const child = fork(fileURLToPath(new URL('./machine-speed-process.ts', import.meta.url)));
      const [ms] = (await once(child, 'message')) as [number];
      return ms;
    }),
  );
}

/** Formats the speed with the number of processes that were ready to run in the last minute. */
export function describeSpeed({ oneMs, allMs }: MachineSpeed): string {
  const times = `${Math.round(oneMs)} ms on one processor, ${Math.round(allMs)} ms on all ${availableParallelism()}`;
  return `Speed of the machine: a fixed loop takes ${times}. Load: ${(loadavg()[0] ?? 0).toFixed(1)}.`;
}
