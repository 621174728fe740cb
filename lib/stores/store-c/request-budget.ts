import type { StoreFetch } from '../store-context.ts';
import { withTimeBudget } from '../time-budget.ts';

/** A fetch that leaves time to answer the client when Microsoft is slow. */
export const withRequestBudget = (fetch: StoreFetch): StoreFetch =>
  withTimeBudget(fetch, { totalMs: 11_000, maxCallMs: 5_000, storeName: 'Microsoft Store' });
