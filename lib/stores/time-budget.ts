import { unavailableError } from '../foundation/errors.ts';
import type { Stopwatch } from '../foundation/stopwatch.ts';
import type { StoreContext, StoreFetch } from './store-context.ts';

interface TimeBudget {
  /** Limit for all calls together. Clients abort a request after 20 s. */
  readonly totalMs: number;
  /** Limit for each call. */
  readonly maxCallMs: number;
  readonly storeName: string;
}

/** Time for a validation and its fulfillment. Clients stop waiting after 20 s. */
const validationBudgetMs = 18_000;

/** Returns the deadline for the fulfillment after a validation that starts now. The time is on the stopwatch. */
export const startFulfillDeadline = ({ readMs }: Stopwatch): number => readMs() + validationBudgetMs;

/** Returns the time that a validation left for its fulfillment; the default budget if it set no deadline. */
export const getFulfillBudgetMs = (
  deadline: number | undefined,
  defaultBudgetMs: number,
  { readMs }: Stopwatch,
): number => (deadline === undefined ? defaultBudgetMs : Math.min(defaultBudgetMs, deadline - readMs()));

/** A call with less time would fail anyway. */
const minCallMs = 250;

/** What a time budget limits and what measures it. */
export type BudgetedCalls = Pick<StoreContext, 'fetch' | 'stopwatch'>;

/** Wraps `fetch` so that all calls together stay within the budget. Throws `ConnectionFailed` after that. */
export function withTimeBudget(
  { fetch, stopwatch }: BudgetedCalls,
  { totalMs, maxCallMs, storeName }: TimeBudget,
): StoreFetch {
  const end = stopwatch.readMs() + totalMs;
  return async (url, init) => {
    const remainingMs = Math.floor(end - stopwatch.readMs());
    if (remainingMs < minCallMs) throw unavailableError(storeName, `The time budget of ${totalMs} ms is used up.`);
    return await fetch(url, { ...init, timeoutMs: Math.min(maxCallMs, remainingMs) });
  };
}
