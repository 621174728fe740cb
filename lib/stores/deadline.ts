import { ServiceError } from '../errors.ts';
import type { StoreFetch } from './store.ts';

interface Budget {
  /** For all calls together; clients give up after 20 s. */
  readonly totalMs: number;
  readonly longestCallMs: number;
  /** Who does not answer. */
  readonly store: string;
}

const shortestCallMs = 250;

/** A fetch whose calls together take no longer than the budget. Time passes here by the machine, not by the service. */
export function withinBudget(fetch: StoreFetch, { totalMs, longestCallMs, store }: Budget): StoreFetch {
  const end = performance.now() + totalMs;
  return async (url, init) => {
    const left = Math.floor(end - performance.now());
    if (left < shortestCallMs) throw new ServiceError('ConnectionFailed', `${store} does not answer in time.`);
    return await fetch(url, { ...init, timeoutMs: Math.min(longestCallMs, left) });
  };
}
