import type { StoreFetch } from '../store-context.ts';
import { type BudgetedCalls, withTimeBudget } from '../time-budget.ts';
import { storeName } from './api-errors.ts';

/** An operation needs several sequential calls, and API clients wait at most 15 s. */
const totalMs = 12_000;
const maxCallMs = 6_000;

/** Creates a fetch whose calls to Stripe share a time budget. */
export const withRequestBudget = (calls: BudgetedCalls): StoreFetch =>
  withTimeBudget(calls, { totalMs, maxCallMs, storeName });
