import type { StoreFetch } from '../store-context.ts';
import { type BudgetedCalls, withTimeBudget } from '../time-budget.ts';
import { storeName } from './api-errors.ts';

/**
 * Limits the calls of one operation. Leaves enough time to validate by the signature alone if the App Store is slow.
 */
export const withRequestBudget = (calls: BudgetedCalls): StoreFetch =>
  withTimeBudget(calls, { totalMs: 10_500, maxCallMs: 4_500, storeName });
