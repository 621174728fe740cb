import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { secondMs } from '../lib/foundation/time.ts';

const timeoutMs = 180 * secondMs;
const minIntervalMs = 20;

/** Part of the elapsed time: a long wait leaves the processor to what it waits for. */
const intervalShare = 0.1;
const maxIntervalMs = secondMs;

/**
 * Polls `read` until `isReached` accepts its value (by default: until the value is truthy) and returns that value.
 * Throws an error with the last value after 180 s. Uses `performance.now()`: tests replace `Date.now`.
 */
export async function waitFor<T>(
  description: string,
  read: () => T | Promise<T>,
  isReached: (value: T) => boolean = Boolean,
): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    const value = await read();
    if (isReached(value)) return value;
    const elapsedMs = performance.now() - startedAt;
    if (elapsedMs > timeoutMs) throw new Error(`Timed out waiting for ${description}. Last value: ${show(value)}`);
    await delay(Math.min(maxIntervalMs, Math.max(minIntervalMs, intervalShare * elapsedMs)));
  }
}

const show = (value: unknown): string => inspect(value, { depth: 8, maxArrayLength: 50, maxStringLength: 2_000 });
