import type { StoreFetch } from '../store-context.ts';
import { type BudgetedCalls, withTimeBudget } from '../time-budget.ts';
import { storeName } from './api-errors.ts';

/** Time for all calls of one operation that a client waits for. */
export const defaultBudgetMs = 11_000;

const maxCallMs = 5_000;

/** Creates a fetch whose calls to Google Play share a time budget. */
export const withRequestBudget = (calls: BudgetedCalls, budgetMs = defaultBudgetMs): StoreFetch =>
  withTimeBudget(calls, { totalMs: budgetMs, maxCallMs, storeName });
