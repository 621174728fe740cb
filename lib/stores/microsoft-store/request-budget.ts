import type { StoreFetch } from '../store-context.ts';
import { withTimeBudget } from '../time-budget.ts';
import { storeName } from './api-errors.ts';

/** Time for all calls of one operation that a client waits for. */
export const defaultBudgetMs = 11_000;

const maxCallMs = 5_000;

/** Creates a fetch whose calls to Microsoft share a time budget. */
export const withRequestBudget = (fetch: StoreFetch, budgetMs = defaultBudgetMs): StoreFetch =>
  withTimeBudget(fetch, { totalMs: budgetMs, maxCallMs, storeName });
