import type { StoreValidation } from '../store.ts';
import type { StoreFetch } from '../store-context.ts';
import { withTimeBudget } from '../time-budget.ts';
import { storeName } from './api-errors.ts';

/** Time for all calls of one operation that a client waits for. */
const defaultBudgetMs = 11_000;

/** Time for a validation and its fulfillment. Clients stop waiting after 20 s. */
const validationBudgetMs = 18_000;

const maxCallMs = 5_000;

/** Creates a fetch whose calls to Google Play share a time budget. */
export const withRequestBudget = (fetch: StoreFetch, budgetMs = defaultBudgetMs): StoreFetch =>
  withTimeBudget(fetch, { totalMs: budgetMs, maxCallMs, storeName });

/** Returns the deadline of the fulfillment that follows a validation which starts now. */
export const startFulfillDeadline = (): number => performance.now() + validationBudgetMs;

/** Returns the time that a validation left for its fulfillment; the default budget if it set no deadline. */
export const getFulfillBudgetMs = ({ fulfillDeadline }: Pick<StoreValidation, 'fulfillDeadline'>): number =>
  fulfillDeadline === undefined ? defaultBudgetMs : Math.min(defaultBudgetMs, fulfillDeadline - performance.now());
