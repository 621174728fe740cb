import { unavailableError } from './api-errors.ts';
import type { StoreFetch } from './store-context.ts';

interface TimeBudget {
  /** Limit for all calls together. Clients abort a request after 20 s. */
  readonly totalMs: number;
  /** Limit for each call. */
  readonly maxCallMs: number;
  readonly storeName: string;
}

/** A call with less time would fail anyway. */
const minCallMs = 250;

/**
 * Wraps `fetch` so that all calls together stay within the budget. Throws `ConnectionFailed` after that. Uses `performance.now()`
 * because the emulator can move the service clock.
 */
export function withTimeBudget(fetch: StoreFetch, { totalMs, maxCallMs, storeName }: TimeBudget): StoreFetch {
  const end = performance.now() + totalMs;
  return async (url, init) => {
    const remainingMs = Math.floor(end - performance.now());
    if (remainingMs < minCallMs) throw unavailableError(storeName, `The time budget of ${totalMs} ms is used up.`);
    return await fetch(url, { ...init, timeoutMs: Math.min(maxCallMs, remainingMs) });
  };
}
