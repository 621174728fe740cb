import type { StoreFetch } from '../store-context.ts';
import { withTimeBudget } from '../time-budget.ts';

/** A fetch that leaves time to answer the client from the signature when Apple is slow. */
export const withRequestBudget = (fetch: StoreFetch): StoreFetch =>
  withTimeBudget(fetch, { totalMs: 10_500, maxCallMs: 4_500, storeName: 'The App Store' });
