import { ServiceError } from '../../errors.ts';
import type { StoreFetch } from '../store.ts';

/** Clients give up after 20 s; a store that takes longer than this in all counts as unreachable. */
const budgetMs = 11_000;
const longestCallMs = 5_000;
const shortestCallMs = 250;

/** A fetch whose calls together take no longer than the budget. Time passes here by the machine, not by the service. */
export function withinBudget(fetch: StoreFetch): StoreFetch {
  const end = performance.now() + budgetMs;
  return async (url, init) => {
    const left = Math.floor(end - performance.now());
    if (left < shortestCallMs) throw new ServiceError('ConnectionFailed', 'Microsoft does not answer in time.');
    return await fetch(url, { ...init, timeoutMs: Math.min(longestCallMs, left) });
  };
}
