import type { StoreContext, StoreFetch } from '../store-context.ts';

/** An operation needs several sequential calls, and API clients wait at most 15 s. */
const totalBudgetMs = 12_000;
const maxCallMs = 6_000;

/** Wraps a fetch so that all of its calls together stay within the budget. */
export function withRequestBudget(fetch: StoreFetch, now: StoreContext['now']): StoreFetch {
  const deadline = now() + totalBudgetMs;
  return async (url, init) =>
    await fetch(url, { ...init, timeoutMs: Math.max(1, Math.min(maxCallMs, deadline - now())) });
}
