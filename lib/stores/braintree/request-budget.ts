import type { StoreFetch } from '../store-context.ts';
import type { BudgetedCalls } from '../time-budget.ts';
import { unavailableError } from './api-errors.ts';

/** A new subscription takes four calls, and API Gateway ends a request after 29 s. */
const totalMs = 24_000;

/** A payment can take long, and the outcome of an aborted payment is unknown. */
const maxCallMs = 12_000;
const minReadMs = 250;

/** Minimum remaining time for a write. The outcome of an aborted write is unknown until it is queried. */
const minWriteMs = 5_000;

/** Wraps a fetch so that all of its calls together stay within the budget. */
export function withRequestBudget({ fetch, stopwatch }: BudgetedCalls): StoreFetch {
  const end = stopwatch.readMs() + totalMs;
  return async (url, init = {}) => {
    const remainingMs = Math.floor(end - stopwatch.readMs());
    const isRead = (init.method ?? 'GET') === 'GET' || /\/advanced_search(?:_ids)?$/.test(url);
    if (remainingMs < (isRead ? minReadMs : minWriteMs)) throw unavailableError('The time budget is exceeded.');
    return await fetch(url, { ...init, timeoutMs: Math.min(maxCallMs, remainingMs) });
  };
}
