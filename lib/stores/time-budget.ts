import { ServiceError } from '../shared/errors.ts';
import type { StoreFetch } from './store.ts';

interface TimeBudget {
  /** For all calls together; clients give up after 20 s. */
  readonly totalMs: number;
  readonly longestCallMs: number;
  /** Who does not answer. */
  readonly store: string;
}

const minCallMs = 250;

/** A fetch whose calls together take no longer than the budget. Time passes here by the machine, not by the service. */
export function withTimeBudget(
  fetch: StoreFetch,
  { totalMs, longestCallMs: maxCallMs, store }: TimeBudget,
): StoreFetch {
  const end = performance.now() + totalMs;
  return async (url, init) => {
    const remainingMs = Math.floor(end - performance.now());
    if (remainingMs < minCallMs) throw new ServiceError('ConnectionFailed', `${store} does not answer in time.`);
    return await fetch(url, { ...init, timeoutMs: Math.min(maxCallMs, remainingMs) });
  };
}
