import { setTimeout as delay } from 'node:timers/promises';
import { secondMs } from '../../lib/foundation/time.ts';
import { percentile } from '../median.ts';

/** The times of the calls of one step, in milliseconds. */
export interface LoadStep {
  readonly rate: number;
  readonly timesMs: readonly number[];
  readonly errors: number;
  /** Calls that ended in a second. */
  readonly achieved: number;
}

/**
 * Starts calls at a fixed rate, whether or not earlier ones have ended. The time of a call starts when it was due, so
 * that a generator that falls behind does not hide the wait.
 */
export async function sendLoad(
  { rate, count }: { readonly rate: number; readonly count: number },
  call: (number: number) => Promise<void>,
): Promise<LoadStep> {
  const startedAt = performance.now();
  const timesMs: number[] = [];
  let errors = 0;
  const send = async (number: number): Promise<void> => {
    const dueAt = startedAt + (number * secondMs) / rate;
    await delay(Math.max(0, dueAt - performance.now()));
    try {
      await call(number);
      timesMs.push(performance.now() - dueAt);
    } catch {
      errors += 1;
    }
  };
  await Promise.all(Array.from({ length: count }, async (_value, number) => await send(number)));
  return { rate, timesMs, errors, achieved: (count * secondMs) / (performance.now() - startedAt) };
}

/** Builds the columns of a step. */
export const summarizeTimes = (timesMs: readonly number[]) => ({
  'p50 ms': round(percentile(timesMs, 50)),
  'p99 ms': round(percentile(timesMs, 99)),
  'max ms': round(percentile(timesMs, 100)),
});

const round = (value: number): number | '' => (Number.isNaN(value) ? '' : Number(value.toFixed(1)));
